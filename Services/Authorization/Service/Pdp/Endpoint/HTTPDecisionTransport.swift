public import OutboundHttp
internal import Synchronization

/// Decision points over HTTP/1.1. Each endpoint has connections of its own, which are kept.
public final class HTTPDecisionTransport: DecisionTransport {
    /// No genuine answer comes near this, in bytes.
    static let largestAnswer = 256 * 1024

    private let http = OutboundHttp(largestAnswer: largestAnswer)
    private let certificates: Mutex<[String: ClientCertificate]>

    /// - Parameter clientCertificates: By the names that endpoints know them by.
    public init(clientCertificates: [String: ClientCertificate] = [:]) { certificates = Mutex(clientCertificates) }

    /// Shows other client certificates from the next call on.
    public func replace(clientCertificates: [String: ClientCertificate]) { certificates.withLock { $0 = clientCertificates } }

    /// Closes all connections.
    public func shutdown() async { await http.shutdown() }

    public func send(
        _ message: DecisionMessage, to endpoint: DecisionEndpoint, timeLeft: Duration
    ) async throws(DecisionTransportFailure) -> DecisionTransportAnswer {
        let route = try route(endpoint)
        do {
            let answer = try await http.send(Self.request(message, endpoint), by: route, timeLeft: timeLeft)
            return DecisionTransportAnswer(status: answer.status, contentType: answer.header("content-type"), body: answer.body)
        } catch {
            throw DecisionTransportFailure(Self.kind(error.kind), cause: error.cause)
        }
    }

    private static func request(_ message: DecisionMessage, _ endpoint: DecisionEndpoint) -> OutboundRequest {
        let joint = message.query.isEmpty ? "" : endpoint.url.contains("?") ? "&" : "?"
        let url = endpoint.url + joint + message.query
        let headers = message.headers.map { ($0.name, $0.value) }
        return switch message.method {
        case .get: OutboundRequest(.get, url, headers: headers)
        case .post: OutboundRequest(.post, url, headers: headers, body: message.body)
        }
    }

    private func route(_ endpoint: DecisionEndpoint) throws(DecisionTransportFailure) -> OutboundRoute {
        var route = OutboundRoute(
            peer: endpoint.url, trustAnchors: endpoint.trustAnchors, connectTimeout: endpoint.connectTimeout,
            responseTimeout: endpoint.responseTimeout, connections: endpoint.callsInFlight)
        if !endpoint.clientCertificate.isEmpty {
            guard let certificate = certificates.withLock({ $0[endpoint.clientCertificate] }) else {
                throw DecisionTransportFailure(.unusable, cause: "the settings have no client certificate '\(endpoint.clientCertificate)'")
            }
            route.certificate = certificate
        }
        return route
    }

    private static func kind(_ kind: OutboundFailure.Kind) -> DecisionTransportFailure.Kind {
        switch kind {
        case .connectTimeout: .connectTimeout
        case .notSent: .notSent
        case .resetBeforeAnswer: .resetBeforeAnswer
        case .responseTimeout: .responseTimeout
        case .budgetSpent: .budgetSpent
        case .unusable: .unusable
        case .cancelled: .cancelled
        }
    }
}
