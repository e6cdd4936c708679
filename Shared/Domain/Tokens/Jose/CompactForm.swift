internal import Cryptography

/// The three parts of a compact JWS (RFC 7515 §7.1), decoded and not verified.
public struct CompactForm: Sendable {
    public let header: [UInt8]
    public let payload: [UInt8]
    public let signature: [UInt8]
    /// The first two parts as they were sent.
    public let signedBytes: [UInt8]

    /// - Parameter largest: In bytes; longer texts are refused unread.
    /// - Returns: `nil` unless the text is three parts of base64url.
    public init?(_ text: String, largest: Int) {
        guard text.utf8.count <= largest else { return nil }
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(of: UInt8(ascii: ".")), let second = bytes[(first + 1)...].firstIndex(of: UInt8(ascii: ".")),
            let header = Base64.url.decode(Array(bytes[..<first])), let payload = Base64.url.decode(Array(bytes[(first + 1)..<second])),
            let signature = Base64.url.decode(Array(bytes[(second + 1)...]))
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedBytes = Array(bytes[..<second])
    }
}
