internal import OutboundHttp

/// Apple's servers over HTTP/1.1.
public final class HTTPAppleTransport: AppleTransport {
    private static let route = OutboundRoute(peer: "Apple", connectTimeout: .seconds(5), responseTimeout: .seconds(10), connections: 8)

    private let http = OutboundHttp()

    public init() {}

    /// Closes all connections.
    public func shutdown() async { await http.shutdown() }

    func send(_ request: AppleRequest) async throws(AppleTransportFailure) -> AppleAnswer {
        let message =
            switch request.method {
            case .get: OutboundRequest(.get, request.url, headers: request.headers)
            case .post: OutboundRequest(.post, request.url, headers: request.headers, body: request.body)
            }
        do {
            let answer = try await http.send(message, by: Self.route, timeLeft: request.timeout)
            return AppleAnswer(status: answer.status, headers: answer.headers, body: answer.body)
        } catch {
            throw AppleTransportFailure(Self.kind(error.kind), cause: error.cause)
        }
    }

    private static func kind(_ kind: OutboundFailure.Kind) -> AppleTransportFailure.Kind {
        switch kind {
        case .notSent, .connectTimeout: .unreachable
        case .responseTimeout, .budgetSpent: .timeout
        case .resetBeforeAnswer, .unusable: .unusable
        case .cancelled: .cancelled
        }
    }
}
