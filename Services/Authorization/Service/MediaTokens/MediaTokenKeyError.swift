/// The problem of a setting.
public struct MediaTokenKeyError: Error, Hashable, Sendable {
    /// Within the object `authorization`.
    public let key: String
    /// Goes on from the key: `must be …`.
    public let problem: String
}
