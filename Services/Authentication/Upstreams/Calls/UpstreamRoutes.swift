internal import BridgeClient
internal import Contracts
internal import Logging
internal import OutboundHttp

/// How upstreams are reached, as their records say: whom to trust, which certificate to show, the version of HTTP, and for how long a connection serves
/// (bridge §3.1).
struct UpstreamRoutes: Sendable {
    let certificates: ClientCertificates

    init(certificates: ClientCertificates = ClientCertificates()) { self.certificates = certificates }

    /// - Parameters:
    ///   - peer: Whose the connections are.
    ///   - connections: At once, over HTTP/1.1.
    /// - Throws: `noCertificate` when the record names a client certificate that is not at hand: the upstream is closed.
    func route(
        to upstream: BridgeUpstream, peer: String, responseTimeout: Duration, connections: Int
    ) throws(OutboundFailure) -> OutboundRoute {
        OutboundRoute(
            peer: peer, trustAnchors: upstream.trustAnchors,
            certificate: upstream.clientCertificate.isEmpty ? nil : try certificates.certificate(upstream.clientCertificate),
            connectTimeout: upstream.connectTimeout, responseTimeout: responseTimeout, connections: connections,
            version: upstream.httpVersion == .http2 ? .http2 : .http1, connectionAge: upstream.connectionAge)
    }

    /// Says in the log how an upstream is reached, where its record differs from the defaults, and whether its certificate is at hand.
    func name(_ upstream: BridgeUpstream, _ logger: Logger) {
        guard upstream.httpVersion == .http2 || !upstream.clientCertificate.isEmpty || upstream.connectionAge != BridgeUpstream.usualConnectionAge
        else { return }
        logger.notice(
            "bridge.connection_settings",
            metadata: [
                "upstream": "\(upstream.id)", "protocol": upstream.httpVersion == .http2 ? "http2" : "http1",
                "client_certificate": "\(upstream.clientCertificate)", "connection_age_s": "\(upstream.connectionAge.components.seconds)",
            ])
        guard !upstream.clientCertificate.isEmpty else { return }
        do throws(OutboundFailure) {
            _ = try certificates.certificate(upstream.clientCertificate)
        } catch {
            Self.tellMissing(error, of: upstream, logger)
        }
    }

    /// An alarm: no call reaches the upstream.
    static func tellMissing(_ failure: OutboundFailure, of upstream: BridgeUpstream, _ logger: Logger) {
        logger.error(
            "bridge.no_certificate",
            metadata: ["upstream": "\(upstream.id)", "certificate": "\(upstream.clientCertificate)", "details": "\(failure.cause)"])
    }
}
