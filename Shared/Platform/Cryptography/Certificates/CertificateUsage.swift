internal import Octets
internal import COpenSSL

/// The permitted uses of a certificate.
public enum CertificateUsage: Sendable {
    /// Signs other certificates.
    case authority
    /// TLS client and server.
    case peer
    /// Signs documents.
    case signing
    /// Receives encrypted keys.
    case encryption

    var profile: BoxofficeCertificateProfile {
        switch self {
        case .authority: BoxofficeProfileAuthority
        case .peer: BoxofficeProfilePeer
        case .signing: BoxofficeProfileSigning
        case .encryption: BoxofficeProfileEncryption
        }
    }
}
