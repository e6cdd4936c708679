internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix

/// Apple's servers over HTTP/1.1.
public final class HTTPAppleTransport: AppleTransport {
    /// No genuine answer comes near this, in bytes.
    static let largestAnswer = 256 * 1024

    private let client: HTTPClient

    public init() {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .init(connect: .seconds(5), read: .seconds(10))
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        // The outbox and Apple's callers have rules of their own for trying again.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections.
    public func shutdown() async {
        // A client that fails to close has no connection left to close.
        try? await client.shutdown()
    }

    func send(_ request: AppleRequest) async throws(AppleTransportFailure) -> AppleAnswer {
        var message = HTTPClientRequest(url: request.url)
        message.method = request.method == .post ? .POST : .GET
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if request.method == .post { message.body = .bytes(request.body) }
        do {
            let response = try await client.execute(message, deadline: .now() + .milliseconds(request.timeout.components.seconds * 1000))
            var content = try await response.body.collect(upTo: Self.largestAnswer)
            return AppleAnswer(
                status: Int(response.status.code), headers: response.headers.map { (name: $0.name, value: $0.value) },
                body: content.readBytes(length: content.readableBytes) ?? [])
        } catch {
            throw AppleTransportFailure(Self.kind(error), cause: "\(error)")
        }
    }

    private static func kind(_ error: any Error) -> AppleTransportFailure.Kind {
        if error is CancellationError { return .cancelled }
        if let error = error as? HTTPClientError {
            switch error {
            case .cancelled: return .cancelled
            case .connectTimeout, .getConnectionFromPoolTimeout: return .unreachable
            case .readTimeout, .deadlineExceeded: return .timeout
            default: return .unusable
            }
        }
        if error is NIOConnectionError { return .unreachable }
        if let error = error as? IOError, [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode) { return .unreachable }
        if case .connectTimeout? = error as? ChannelError { return .unreachable }
        return .unusable
    }
}
