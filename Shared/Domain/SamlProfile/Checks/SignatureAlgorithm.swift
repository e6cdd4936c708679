internal import CXmlSec

/// The signature algorithms that may be allowed to an MVPD (mvpd §2.3 step 14).
public enum SignatureAlgorithm: String, Hashable, Sendable, CaseIterable {
    case rsaSHA1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"
    case rsaSHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
    case rsaSHA384 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384"
    case rsaSHA512 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"
    case ecdsaSHA256 = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"
    case ecdsaSHA384 = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"
    case ecdsaSHA512 = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512"

    /// The default of an endpoint: everything but SHA-1.
    public static let current: Set<SignatureAlgorithm> = Set(allCases).subtracting([.rsaSHA1])

    var usesRSA: Bool {
        switch self {
        case .rsaSHA1, .rsaSHA256, .rsaSHA384, .rsaSHA512: true
        case .ecdsaSHA256, .ecdsaSHA384, .ecdsaSHA512: false
        }
    }

    var method: cxs_signature_method {
        switch self {
        case .rsaSHA1: CXS_RSA_SHA1
        case .rsaSHA256: CXS_RSA_SHA256
        case .rsaSHA384: CXS_RSA_SHA384
        case .rsaSHA512: CXS_RSA_SHA512
        case .ecdsaSHA256: CXS_ECDSA_SHA256
        case .ecdsaSHA384: CXS_ECDSA_SHA384
        case .ecdsaSHA512: CXS_ECDSA_SHA512
        }
    }
}
