internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// OAuth endpoints over HTTP/1.1. Each MVPD has connections of its own, so that one that hangs takes none from the others.
public final class HTTPProviderTransport: ProviderTransport {
    /// No genuine answer comes near this, in bytes.
    static let largestAnswer = 256 * 1024

    private struct Lane: Hashable {
        let provider: MvpdID
        let connect: Duration
        let response: Duration
    }

    private let clients = Mutex<[Lane: HTTPClient]>([:])

    public init() {}

    /// Closes all connections.
    public func shutdown() async {
        let open = clients.withLock { clients in
            defer { clients = [:] }
            return Array(clients.values)
        }
        // A client that fails to close has no connection left to close.
        for client in open { try? await client.shutdown() }
    }

    func send(_ request: ProviderRequest) async throws(ProviderTransportFailure) -> ProviderAnswer {
        let message = try Self.message(request)
        let deadline = NIODeadline.now() + .nanoseconds(request.timeLeft.nanoseconds)
        do {
            let response = try await client(for: request).execute(message, deadline: deadline)
            var content = try await response.body.collect(upTo: Self.largestAnswer)
            return ProviderAnswer(status: Int(response.status.code), body: content.readBytes(length: content.readableBytes) ?? [])
        } catch {
            throw ProviderTransportFailure(Self.kind(error), cause: "\(error)")
        }
    }

    private static func message(_ request: ProviderRequest) throws(ProviderTransportFailure) -> HTTPClientRequest {
        var message = HTTPClientRequest(url: request.url)
        message.method = request.method == .post ? .POST : .GET
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let body = request.body { message.body = .bytes(body) }
        guard !request.trustAnchors.isEmpty else { return message }
        do {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try request.trustAnchors.map { try NIOSSLCertificate(bytes: $0, format: .der) })
            message.tlsConfiguration = tls
        } catch {
            throw ProviderTransportFailure(.unusable, cause: "a trust anchor is no certificate: \(error)")
        }
        return message
    }

    private func client(for request: ProviderRequest) -> HTTPClient {
        let lane = Lane(provider: request.provider, connect: request.connectTimeout, response: request.responseTimeout)
        return clients.withLock { clients in
            if let client = clients[lane] { return client }
            var configuration = HTTPClient.Configuration()
            configuration.timeout = .init(
                connect: .nanoseconds(lane.connect.nanoseconds), read: .nanoseconds(lane.response.nanoseconds))
            configuration.redirectConfiguration = .disallow
            configuration.httpVersion = .http1Only
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = ProviderGate.standardLimit
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[lane] = client
            return client
        }
    }

    private static func kind(_ error: any Error) -> ProviderTransportFailure.Kind {
        if error is CancellationError { return .cancelled }
        if let error = error as? HTTPClientError {
            switch error {
            case .cancelled: return .cancelled
            case .connectTimeout, .readTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout: return .timeout
            default: return .unusable
            }
        }
        if error is NIOConnectionError { return .unreachable }
        if let error = error as? IOError, [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode) { return .unreachable }
        if case .connectTimeout? = error as? ChannelError { return .timeout }
        return .unusable
    }
}

extension Duration {
    /// Whole nanoseconds; for the spans of this service, all far below 292 years.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
