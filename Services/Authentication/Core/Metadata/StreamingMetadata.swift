/// What a session that was made automatically may know of the person: enough to stream, and nothing that opens more (apple §1.2).
enum StreamingMetadata {
    private static let names = ["userID", "channelID", "maxRating"]

    /// - Parameter key: Of an object also a part, such as `maxRating.VCHIP`.
    static func covers(_ key: String) -> Bool { names.contains(key.metadataName) }
}
