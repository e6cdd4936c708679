public import Clocks

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
