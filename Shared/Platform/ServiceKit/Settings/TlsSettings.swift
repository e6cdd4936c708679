internal import Cryptography
internal import Transport

/// The program's TLS identity, PEM files relative to the settings file.
public struct TlsSettings: Decodable, Sendable, Hashable {
    public let certificate: String
    public let key: String
    /// Authorities whose certificates are accepted: one, or two while peers change from one to the other.
    public let trustAnchors: String
    /// SHA-256 of certificates that were taken back: 64 hex digits each, `:` between bytes or not.
    public let refused: [String]

    private enum CodingKeys: String, CodingKey { case certificate, key, trustAnchors, refused }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        certificate = try container.decode(String.self, forKey: .certificate)
        key = try container.decode(String.self, forKey: .key)
        trustAnchors = try container.decode(String.self, forKey: .trustAnchors)
        refused = try container.decodeIfPresent([String].self, forKey: .refused) ?? []
        for text in refused where Self.digest(text) == nil {
            throw DecodingError.dataCorruptedError(
                forKey: .refused, in: container, debugDescription: "must hold SHA-256 digests of 64 hex digits; one is '\(text)'")
        }
    }

    var refusedDigests: [CertificateDigest] { refused.compactMap(Self.digest) }

    private static func digest(_ text: String) -> CertificateDigest? {
        Hex.decode(text.filter { $0 != ":" }).flatMap { CertificateDigest($0) }
    }
}
