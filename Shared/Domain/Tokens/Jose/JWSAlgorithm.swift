/// Signature algorithms of RFC 7518 §3.1 that are accepted here.
public enum JWSAlgorithm: String, Sendable, Codable {
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
}
