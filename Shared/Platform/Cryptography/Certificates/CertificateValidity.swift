internal import Octets
public import Clocks

/// The period of validity of a certificate.
public struct CertificateValidity: Sendable, Hashable {
    public var notBefore: Timestamp
    public var notAfter: Timestamp

    /// - Parameters:
    ///   - notBefore: First moment of validity.
    ///   - notAfter: Last moment of validity.
    public init(notBefore: Timestamp, notAfter: Timestamp) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// A validity of that many days from `now`. It begins five minutes earlier, so that a peer with a slow clock accepts the certificate.
    public static func days(_ count: Int, from now: Timestamp = SystemClock().now()) -> CertificateValidity {
        CertificateValidity(notBefore: now - .seconds(300), notAfter: now + .seconds(count * 86_400))
    }
}
