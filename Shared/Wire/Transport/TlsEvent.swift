/// The TLS handler's events for the handlers above it, as a user inbound event.
public enum TlsEvent: Hashable, Sendable {
    /// The handshake is complete and the peer's certificate verified.
    ///
    /// A client may see this although the server is about to refuse its certificate: in TLS 1.3 the server's verdict comes later.
    /// - Parameter peerNames: The DNS SANs of the peer's certificate, in its order.
    case established(peerNames: [String])
}
