internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Spans
internal import Synchronization

/// HTTP/1.1 calls to servers of other organisations. Each route has connections of its own, which are kept; redirects are not followed.
public final class OutboundHttp: OutboundTransport {
    /// Routes at once; beyond it the one that was used longest ago goes.
    private static let largestCount = 256
    /// After this a client that was replaced is closed; no call takes so long.
    private static let retirement: Duration = .seconds(120)

    private struct Kept {
        let client: HTTPClient
        var lastUse: UInt64
    }

    private struct State {
        var clients: [OutboundRoute: Kept] = [:]
        var uses: UInt64 = 0
    }

    private let largestAnswer: Int
    private let state = Mutex(State())

    /// - Parameter largestAnswer: Bytes of a body; a longer one is `unusable`.
    public init(largestAnswer: Int = 256 * 1024) { self.largestAnswer = largestAnswer }

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
        _ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration
    ) async throws(OutboundFailure) -> OutboundAnswer {
        let span = Span.outbound(request.method.rawValue, request.url)
        defer { span?.end() }
        do throws(OutboundFailure) {
            let answer = try await exchange(request, by: route, timeLeft: timeLeft)
            span?.note(status: answer.status)
            return answer
        } catch {
            span?.fail(error.kind.rawValue)
            throw error
        }
    }

    private func exchange(
        _ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration
    ) async throws(OutboundFailure) -> OutboundAnswer {
        let client = try client(for: route)
        let response: HTTPClientResponse
        do {
            response = try await client.execute(Self.message(request), deadline: .now() + TimeAmount(timeLeft))
        } catch {
            throw OutboundFailure(error, hasAnswer: false)
        }
        do {
            var content = try await response.body.collect(upTo: largestAnswer)
            return OutboundAnswer(
                status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
                body: content.readBytes(length: content.readableBytes) ?? [])
        } catch {
            throw OutboundFailure(error, hasAnswer: true)
        }
    }

    private static func message(_ request: OutboundRequest) -> HTTPClientRequest {
        var message = HTTPClientRequest(url: request.url)
        message.method =
            switch request.method {
            case .get: .GET
            case .post: .POST
            case .delete: .DELETE
            }
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let body = request.body { message.body = .bytes(body) }
        return message
    }

    private func client(for route: OutboundRoute) throws(OutboundFailure) -> HTTPClient {
        if let client = known(route) { return client }
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try Self.tls(route)
        configuration.timeout = .init(connect: TimeAmount(route.connectTimeout), read: TimeAmount(route.responseTimeout))
        configuration.redirectConfiguration = .disallow
        if let pin = route.pin { configuration.dnsOverride = [pin.host: pin.address] }
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = route.connections
        return keep(HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration), for: route)
    }

    private func known(_ route: OutboundRoute) -> HTTPClient? {
        state.withLock { state in
            state.uses += 1
            state.clients[route]?.lastUse = state.uses
            return state.clients[route]?.client
        }
    }

    /// - Returns: The client to use: another call may have been faster.
    private func keep(_ client: HTTPClient, for route: OutboundRoute) -> HTTPClient {
        let (used, spare) = state.withLock { state in
            if let known = state.clients[route] { return (known.client, client as HTTPClient?) }
            let oldest = state.clients.count < Self.largestCount ? nil : state.clients.min { $0.value.lastUse < $1.value.lastUse }?.key
            let retired = oldest.flatMap { state.clients.removeValue(forKey: $0) }?.client
            state.clients[route] = Kept(client: client, lastUse: state.uses)
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

    private static func tls(_ route: OutboundRoute) throws(OutboundFailure) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let certificate = route.certificate {
            tls.certificateChain = certificate.chain.map { .certificate($0) }
            tls.privateKey = .privateKey(certificate.key)
        }
        guard !route.trustAnchors.isEmpty else { return tls }
        do {
            tls.trustRoots = .certificates(try route.trustAnchors.map { try NIOSSLCertificate(bytes: $0, format: .der) })
            return tls
        } catch {
            throw OutboundFailure(.unusable, cause: "a trust anchor is no certificate: \(error)")
        }
    }
}
