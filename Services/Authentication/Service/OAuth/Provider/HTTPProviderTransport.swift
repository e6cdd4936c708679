internal import OutboundHttp

/// OAuth endpoints over HTTP/1.1. Each MVPD has connections of its own, so that one that hangs takes none from the others.
public final class HTTPProviderTransport: ProviderTransport {
    /// No genuine answer comes near this, in bytes.
    static let largestAnswer = 256 * 1024

    private let http = OutboundHttp(largestAnswer: largestAnswer)

    public init() {}

    /// Closes all connections.
    public func shutdown() async { await http.shutdown() }

    func send(_ request: ProviderRequest) async throws(ProviderTransportFailure) -> ProviderAnswer {
        let route = OutboundRoute(
            peer: request.provider.text, trustAnchors: request.trustAnchors, connectTimeout: request.connectTimeout,
            responseTimeout: request.responseTimeout, connections: ProviderGate.standardLimit)
        let message = OutboundRequest(request.method == .post ? .post : .get, request.url, headers: request.headers, body: request.body)
        do {
            let answer = try await http.send(message, by: route, timeLeft: request.timeLeft)
            return ProviderAnswer(status: answer.status, body: answer.body)
        } catch {
            throw ProviderTransportFailure(Self.kind(error.kind), cause: error.cause)
        }
    }

    private static func kind(_ kind: OutboundFailure.Kind) -> ProviderTransportFailure.Kind {
        switch kind {
        case .connectTimeout, .responseTimeout, .budgetSpent: .timeout
        case .notSent: .unreachable
        case .resetBeforeAnswer, .unusable: .unusable
        case .cancelled: .cancelled
        }
    }
}
