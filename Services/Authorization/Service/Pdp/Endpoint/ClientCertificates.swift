public import OutboundHttp
internal import Synchronization

/// The certificates that decision points are shown, by the names that endpoints know them by.
public final class ClientCertificates: Sendable {
    private let certificates: Mutex<[String: ClientCertificate]>

    public init(_ certificates: [String: ClientCertificate] = [:]) { self.certificates = Mutex(certificates) }

    /// Shows others from the next call on.
    public func replace(_ certificates: [String: ClientCertificate]) { self.certificates.withLock { $0 = certificates } }

    subscript(name: String) -> ClientCertificate? { certificates.withLock { $0[name] } }
}
