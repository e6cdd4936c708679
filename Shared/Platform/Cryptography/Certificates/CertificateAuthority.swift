internal import Octets

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
    ///   - names: The names that peers check; no peer accepts the common name alone.
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
