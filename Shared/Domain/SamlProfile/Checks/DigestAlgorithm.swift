internal import CXmlSec

/// The digests that a reference may name (mvpd §2.3 step 14).
enum DigestAlgorithm: String, Hashable, Sendable {
    case sha1 = "http://www.w3.org/2000/09/xmldsig#sha1"
    case sha256 = "http://www.w3.org/2001/04/xmlenc#sha256"
    case sha384 = "http://www.w3.org/2001/04/xmldsig-more#sha384"
    case sha512 = "http://www.w3.org/2001/04/xmlenc#sha512"

    var method: cxs_digest_method {
        switch self {
        case .sha1: CXS_SHA1
        case .sha256: CXS_SHA256
        case .sha384: CXS_SHA384
        case .sha512: CXS_SHA512
        }
    }
}
