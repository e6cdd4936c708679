internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// Decision points over HTTP/1.1. Connections are kept; the timeouts of endpoints decide which client serves them.
public final class HTTPDecisionTransport: DecisionTransport {
    /// No genuine answer comes near this, in bytes.
    static let largestAnswer = 256 * 1024

    private struct Timeouts: Hashable {
        let connect: Duration
        let response: Duration
    }

    private let clients = Mutex<[Timeouts: HTTPClient]>([:])

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

    public func post(
        _ body: [UInt8], to endpoint: DecisionEndpoint, timeLeft: Duration
    ) async throws(DecisionTransportFailure) -> DecisionTransportAnswer {
        let request = try Self.request(body, endpoint)
        let deadline = NIODeadline.now() + .nanoseconds(timeLeft.nanoseconds)
        let response: HTTPClientResponse
        do {
            response = try await client(for: endpoint).execute(request, deadline: deadline)
        } catch {
            throw Self.failure(error, hasAnswer: false)
        }
        do {
            var content = try await response.body.collect(upTo: Self.largestAnswer)
            return DecisionTransportAnswer(status: Int(response.status.code), body: content.readBytes(length: content.readableBytes) ?? [])
        } catch {
            throw Self.failure(error, hasAnswer: true)
        }
    }

    private static func request(_ body: [UInt8], _ endpoint: DecisionEndpoint) throws(DecisionTransportFailure) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: endpoint.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: XacmlNames.mediaType)
        request.headers.add(name: "accept", value: XacmlNames.mediaType)
        request.body = .bytes(body)
        guard !endpoint.trustAnchors.isEmpty else { return request }
        do {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try endpoint.trustAnchors.map { try NIOSSLCertificate(bytes: $0, format: .der) })
            request.tlsConfiguration = tls
        } catch {
            throw DecisionTransportFailure(.unusable, cause: "a trust anchor is no certificate: \(error)")
        }
        return request
    }

    private func client(for endpoint: DecisionEndpoint) -> HTTPClient {
        let timeouts = Timeouts(connect: endpoint.connectTimeout, response: endpoint.responseTimeout)
        return clients.withLock { clients in
            if let client = clients[timeouts] { return client }
            var configuration = HTTPClient.Configuration()
            configuration.timeout = .init(
                connect: .nanoseconds(timeouts.connect.nanoseconds), read: .nanoseconds(timeouts.response.nanoseconds))
            configuration.redirectConfiguration = .disallow
            configuration.httpVersion = .http1Only
            configuration.connectionPool.retryConnectionEstablishment = false
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[timeouts] = client
            return client
        }
    }

    private static func failure(_ error: any Error, hasAnswer: Bool) -> DecisionTransportFailure {
        if error is CancellationError { return DecisionTransportFailure(.cancelled) }
        return DecisionTransportFailure(kind(error, hasAnswer: hasAnswer), cause: "\(error)")
    }

    private static func kind(_ error: any Error, hasAnswer: Bool) -> DecisionTransportFailure.Kind {
        if let error = error as? HTTPClientError {
            switch error {
            case .cancelled: return .cancelled
            case .connectTimeout: return .connectTimeout
            case .readTimeout: return .responseTimeout
            case .deadlineExceeded, .getConnectionFromPoolTimeout: return .budgetSpent
            case .remoteConnectionClosed: return hasAnswer ? .unusable : .resetBeforeAnswer
            default: return .unusable
            }
        }
        if hasAnswer { return .unusable }
        if error is NIOConnectionError { return .notSent }
        if let error = error as? IOError {
            switch error.errnoCode {
            case ECONNRESET, EPIPE: return .resetBeforeAnswer
            case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH: return .notSent
            default: return .unusable
            }
        }
        if case .connectTimeout? = error as? ChannelError { return .connectTimeout }
        return .unusable
    }
}

extension Duration {
    /// Whole nanoseconds; for the spans of this service, all far below 292 years.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
