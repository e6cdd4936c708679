/// SHA-256 of a certificate's DER encoding.
public struct CertificateDigest: Hashable, Sendable {
    /// In bytes.
    static let size = 32

    let bytes: [UInt8]

    /// - Parameter bytes: 32 of them, else `nil`.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}
