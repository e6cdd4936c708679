internal import COpenSSL
public import Clocks

/// A certificate and the private key that belongs to it.
public struct CertifiedKey: Sendable {
    public let certificate: Certificate
    public let key: PrivateKey

    /// - Throws: `CryptographyError.wrongKeyType` when they do not belong together.
    public init(certificate: Certificate, key: PrivateKey) throws(CryptographyError) {
        guard certificate.belongs(to: key) else { throw .wrongKeyType(expected: "the one in certificate \(certificate.subject)", found: "another") }
        self.certificate = certificate
        self.key = key
    }

    /// - Throws: `CryptographyError`.
    public init(certificateFile: String, keyFile: String) throws(CryptographyError) {
        try self.init(certificate: Certificate(pemFile: certificateFile), key: PrivateKey(pemFile: keyFile))
    }

    /// A certificate that stands for itself, for peers that pin it.
    /// - Parameters:
    ///   - commonName: 1 to 64 characters.
    ///   - key: A fresh P-256 key when absent.
    /// - Throws: `CryptographyError`.
    public static func selfSigned(
        commonName: String, key: PrivateKey? = nil, usage: CertificateUsage = .signing, names: CertificateNames = CertificateNames(),
        validity: CertificateValidity = .days(365)
    ) throws(CryptographyError) -> CertifiedKey {
        let key: PrivateKey = if let key { key } else { .p256(try .generate()) }
        let order = CertificateOrder(commonName: commonName, key: key, usage: usage, names: names, validity: validity)
        return try CertifiedKey(certificate: order.issue(by: nil), key: key)
    }
}

/// Signs certificates for the services of one cluster.
public struct CertificateAuthority: Sendable {
    public let identity: CertifiedKey

    public var certificate: Certificate { identity.certificate }

    /// An authority that exists already.
    public init(identity: CertifiedKey) { self.identity = identity }

    /// A new authority with a P-256 key.
    /// - Parameter name: Common name, 1 to 64 characters.
    /// - Throws: `CryptographyError`.
    public static func create(name: String, validity: CertificateValidity = .days(3650)) throws(CryptographyError) -> CertificateAuthority {
        CertificateAuthority(identity: try .selfSigned(commonName: name, usage: .authority, validity: validity))
    }

    /// A certificate for both ends of TLS connections.
    /// - Parameters:
    ///   - commonName: 1 to 64 characters.
    ///   - names: The names that peers will look for; the common name alone satisfies nobody.
    ///   - key: A fresh P-256 key when absent.
    /// - Throws: `CryptographyError`.
    public func issue(
        commonName: String, names: CertificateNames, key: PrivateKey? = nil, usage: CertificateUsage = .peer,
        validity: CertificateValidity = .days(365)
    ) throws(CryptographyError) -> CertifiedKey {
        let key: PrivateKey = if let key { key } else { .p256(try .generate()) }
        let order = CertificateOrder(commonName: commonName, key: key, usage: usage, names: names, validity: validity)
        return try CertifiedKey(certificate: order.issue(by: identity), key: key)
    }
}

/// What a certificate may be used for.
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

/// Subject alternative names.
public struct CertificateNames: Sendable, Hashable {
    /// For example `gateway.boxoffice`.
    public var dns: [String]
    /// IPv4 or IPv6 text.
    public var addresses: [String]

    public init(dns: [String] = [], addresses: [String] = []) {
        self.dns = dns
        self.addresses = addresses
    }
}

/// From when to when a certificate counts.
public struct CertificateValidity: Sendable, Hashable {
    public var notBefore: Timestamp
    public var notAfter: Timestamp

    public init(notBefore: Timestamp, notAfter: Timestamp) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// So many days; begins five minutes ago, so that a peer whose clock is behind accepts it.
    public static func days(_ count: Int, from now: Timestamp = SystemClock().now()) -> CertificateValidity {
        CertificateValidity(notBefore: now - .seconds(300), notAfter: now + .seconds(count * 86_400))
    }
}
