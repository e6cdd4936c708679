extension String {
    /// Of a metadata key, the name without the part of an object: `maxRating` of `maxRating.VCHIP`.
    var metadataName: String {
        guard let point = utf8.firstIndex(of: UInt8(ascii: ".")) else { return self }
        return String(self[..<point])
    }
}
