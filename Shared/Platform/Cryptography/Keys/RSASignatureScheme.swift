internal import Octets
internal import COpenSSL

/// How an RSA key signs a SHA-256 digest (RFC 8017 §8).
public enum RSASignatureScheme: Hashable, Sendable {
    /// RSASSA-PKCS1-v1_5; JOSE calls it RS256.
    case pkcs1v15
    /// RSASSA-PSS with MGF1 over SHA-256 and a salt of 32 bytes; JOSE calls it PS256 (RFC 7518 §3.5).
    case pss

    /// - Returns: False when libcrypto refuses.
    func configure(_ parameters: OpaquePointer?) -> Bool {
        switch self {
        case .pkcs1v15: true
        case .pss:
            EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1 && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, 32) == 1
        }
    }
}
