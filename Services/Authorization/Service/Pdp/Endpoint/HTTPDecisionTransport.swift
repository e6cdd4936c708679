internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// Decision points over HTTP/1.1. Each endpoint has connections of its own, which are kept.
public final class HTTPDecisionTransport: DecisionTransport {
    /// No genuine answer comes near this, in bytes.
    static let largestAnswer = 256 * 1024
    /// Clients at once; beyond it the one that was used longest ago goes.
    private static let largestCount = 256
    /// After this a client that was replaced is closed; no call takes so long.
    private static let retirement: Duration = .seconds(120)

    private struct Kept {
        let client: HTTPClient
        var lastUse: UInt64
    }

    private struct State {
        var clients: [DecisionEndpoint: Kept] = [:]
        var uses: UInt64 = 0
    }

    private let clientCertificates: [String: ClientCertificate]
    private let state = Mutex(State())

    /// - Parameter clientCertificates: By the names that endpoints know them by.
    public init(clientCertificates: [String: ClientCertificate] = [:]) { self.clientCertificates = clientCertificates }

    /// Closes all connections.
    public func shutdown() async {
        let open = state.withLock { state in
            defer { state.clients = [:] }
            return Array(state.clients.values)
        }
        // A client that fails to close has no connection left to close.
        for kept in open { try? await kept.client.shutdown() }
    }

    public func send(
        _ message: DecisionMessage, to endpoint: DecisionEndpoint, timeLeft: Duration
    ) async throws(DecisionTransportFailure) -> DecisionTransportAnswer {
        let client = try client(for: endpoint)
        let deadline = NIODeadline.now() + .nanoseconds(timeLeft.nanoseconds)
        let response: HTTPClientResponse
        do {
            response = try await client.execute(Self.request(message, endpoint), deadline: deadline)
        } catch {
            throw Self.failure(error, hasAnswer: false)
        }
        do {
            var content = try await response.body.collect(upTo: Self.largestAnswer)
            return DecisionTransportAnswer(
                status: Int(response.status.code), contentType: response.headers.first(name: "content-type"),
                body: content.readBytes(length: content.readableBytes) ?? [])
        } catch {
            throw Self.failure(error, hasAnswer: true)
        }
    }

    private static func request(_ message: DecisionMessage, _ endpoint: DecisionEndpoint) -> HTTPClientRequest {
        let joint = message.query.isEmpty ? "" : endpoint.url.contains("?") ? "&" : "?"
        var request = HTTPClientRequest(url: endpoint.url + joint + message.query)
        for header in message.headers { request.headers.add(name: header.name, value: header.value) }
        switch message.method {
        case .get: request.method = .GET
        case .post:
            request.method = .POST
            request.body = .bytes(message.body)
        }
        return request
    }

    private func client(for endpoint: DecisionEndpoint) throws(DecisionTransportFailure) -> HTTPClient {
        var key = endpoint
        // The budget belongs to the call.
        key.totalTimeout = .zero
        if let client = known(key) { return client }
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try tls(endpoint)
        configuration.timeout = .init(
            connect: .nanoseconds(endpoint.connectTimeout.nanoseconds), read: .nanoseconds(endpoint.responseTimeout.nanoseconds))
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = endpoint.callsInFlight
        return keep(HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration), for: key)
    }

    private func known(_ key: DecisionEndpoint) -> HTTPClient? {
        state.withLock { state in
            state.uses += 1
            state.clients[key]?.lastUse = state.uses
            return state.clients[key]?.client
        }
    }

    /// - Returns: The client to use: another call may have been faster.
    private func keep(_ client: HTTPClient, for key: DecisionEndpoint) -> HTTPClient {
        let (used, spare) = state.withLock { state in
            if let known = state.clients[key] { return (known.client, client as HTTPClient?) }
            let oldest = state.clients.count < Self.largestCount ? nil : state.clients.min { $0.value.lastUse < $1.value.lastUse }?.key
            let retired = oldest.flatMap { state.clients.removeValue(forKey: $0) }?.client
            state.clients[key] = Kept(client: client, lastUse: state.uses)
            return (client, retired)
        }
        if let spare { Self.retire(spare) }
        return used
    }

    private static func retire(_ client: HTTPClient) {
        Task {
            // Cancelled or not, it is time then.
            try? await Task.sleep(for: retirement)
            try? await client.shutdown()
        }
    }

    private func tls(_ endpoint: DecisionEndpoint) throws(DecisionTransportFailure) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if !endpoint.clientCertificate.isEmpty {
            guard let certificate = clientCertificates[endpoint.clientCertificate] else {
                throw DecisionTransportFailure(.unusable, cause: "the settings have no client certificate '\(endpoint.clientCertificate)'")
            }
            tls.certificateChain = certificate.chain.map { .certificate($0) }
            tls.privateKey = .privateKey(certificate.key)
        }
        guard !endpoint.trustAnchors.isEmpty else { return tls }
        do {
            tls.trustRoots = .certificates(try endpoint.trustAnchors.map { try NIOSSLCertificate(bytes: $0, format: .der) })
            return tls
        } catch {
            throw DecisionTransportFailure(.unusable, cause: "a trust anchor is no certificate: \(error)")
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
