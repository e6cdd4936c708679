internal import Octets

/// Subject alternative names.
public struct CertificateNames: Sendable, Hashable {
    /// For example `gateway.boxoffice`.
    public var dns: [String]
    /// IPv4 or IPv6 text.
    public var addresses: [String]

    /// - Parameters:
    ///   - dns: Host names.
    ///   - addresses: IPv4 or IPv6 text.
    public init(dns: [String] = [], addresses: [String] = []) {
        self.dns = dns
        self.addresses = addresses
    }
}
