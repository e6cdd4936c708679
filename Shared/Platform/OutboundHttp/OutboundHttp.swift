internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Spans
internal import Synchronization

/// HTTP calls to servers of other organisations, by HTTP/1.1 unless a route says otherwise. Each route has connections of its own, which are kept, and
/// through each proxy others; redirects are not followed.
public final class OutboundHttp: OutboundTransport {
    /// Routes at once; beyond it the one that was used longest ago goes.
    private static let largestCount = 256
    /// A client that was replaced is closed when its last call is over, and at the latest after this; no call takes so long.
    private static let retirement: Duration = .seconds(120)

    /// A client, and the number of calls that use it.
    private final class Counted: Sendable {
        let http: HTTPClient
        let calls = Atomic(0)

        init(_ http: HTTPClient) { self.http = http }
    }

    private struct Kept {
        let client: Counted
        var lastUse: UInt64
        /// When another client takes its place; `nil`: never.
        let end: ContinuousClock.Instant?
    }

    /// How long the addresses count that a name had when it was looked up for a tunnel.
    private static let fresh: Duration = .seconds(30)
    private static let mostNames = 1024

    /// A route, and the proxy that leads there.
    private struct Way: Hashable {
        var route: OutboundRoute
        var proxy: EgressProxy?
        /// For failures of the proxy.
        var tunnel: ProxyTunnel? = nil

        static func == (one: Way, other: Way) -> Bool { one.route == other.route && one.proxy == other.proxy }

        func hash(into hasher: inout Hasher) {
            hasher.combine(route)
            hasher.combine(proxy)
        }
    }

    private struct State {
        var clients: [Way: Kept] = [:]
        var uses: UInt64 = 0
        var names: [OctetText: (address: ResolvedAddress, end: ContinuousClock.Instant)] = [:]
    }

    private let options: OutboundOptions
    private let largestAnswer: Int
    private let names: any NameResolving
    private let state = Mutex(State())

    /// - Parameters:
    ///   - options: Who calls, and by which proxies.
    ///   - largestAnswer: Bytes of a body, as it came and decoded; a longer one is `unusable`.
    public convenience init(_ options: OutboundOptions = OutboundOptions(), largestAnswer: Int = 256 * 1024) {
        self.init(options, largestAnswer: largestAnswer, names: SystemNames())
    }

    init(_ options: OutboundOptions, largestAnswer: Int = 256 * 1024, names: any NameResolving) {
        self.options = options
        self.largestAnswer = largestAnswer
        self.names = names
    }

    /// Closes all connections.
    public func shutdown() async {
        let open = state.withLock { state in
            defer { state.clients = [:] }
            return Array(state.clients.values)
        }
        // A client that fails to close has no connection left to close.
        for kept in open { try? await kept.client.http.shutdown() }
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
        let end = ContinuousClock.now + timeLeft
        let way = try await way(for: request.url, by: route, until: end)
        let client = try client(for: way)
        defer { client.calls.subtract(1, ordering: .releasing) }
        let left = end - .now
        guard left > .zero else { throw OutboundFailure(.budgetSpent) }
        let response: HTTPClientResponse
        do {
            response = try await client.http.execute(message(request), deadline: .now() + TimeAmount(left))
        } catch {
            let failure = await way.tunnel?.failure(error, timeLeft: end - .now) ?? OutboundFailure(error, hasAnswer: false)
            // The server may have moved.
            if failure.isUnsent, let pin = way.route.pin { state.withLock { $0.names[OctetText(pin.host.lowercased())] = nil } }
            throw failure
        }
        do {
            var content = try await whole(response.body, until: end)
            let (headers, body) = try ContentCoding.decoded(
                response.headers.map { ($0.name, $0.value) }, content.readBytes(length: content.readableBytes) ?? [], largest: largestAnswer)
            return OutboundAnswer(status: Int(response.status.code), headers: headers, body: body)
        } catch {
            throw OutboundFailure(error, hasAnswer: true)
        }
    }

    /// The client's own deadline ends with the head: a server that sends its answer octet by octet would hold the caller for hours.
    private func whole(_ body: HTTPClientResponse.Body, until end: ContinuousClock.Instant) async throws -> ByteBuffer {
        try await withThrowingTaskGroup(of: ByteBuffer.self) { [largestAnswer] group in
            group.addTask { try await body.collect(upTo: largestAnswer) }
            group.addTask {
                try await Task.sleep(until: end)
                throw OutboundFailure(.budgetSpent, cause: "the answer did not end in time")
            }
            defer { group.cancelAll() }
            guard let content = try await group.next() else { throw OutboundFailure(.unusable) }
            return content
        }
    }

    /// Plain HTTP goes directly: a proxy would read and could change it.
    private func way(for url: String, by route: OutboundRoute, until end: ContinuousClock.Instant) async throws(OutboundFailure) -> Way {
        guard !options.proxies.isEmpty, let parts = URLComponents(string: url), parts.scheme?.lowercased() == "https", let written = parts.host else {
            return Way(route: route)
        }
        let host = (written.hasPrefix("[") && written.hasSuffix("]") ? String(written.dropFirst().dropLast()) : written).lowercased()
        guard var proxy = options.proxies.proxy(for: host, at: route.pin?.address) else { return Way(route: route) }
        var pinned = route
        if route.pin == nil, !proxy.resolvesNames, EgressTarget.octets(host) == nil {
            let address = try await address(of: host, until: end)
            // A rule about networks is about the address.
            guard let now = options.proxies.proxy(for: host, at: address.text) else { return Way(route: route) }
            proxy = now
            pinned.pin = OutboundRoute.Pin(host: written, address: address.text)
        }
        return Way(
            route: pinned, proxy: proxy,
            tunnel: ProxyTunnel(proxy, host: pinned.pin?.address ?? host, port: parts.port ?? 443, userAgent: options.userAgent))
    }

    /// The proxy gets one address; it may have no IPv6.
    private func address(of host: String, until end: ContinuousClock.Instant) async throws(OutboundFailure) -> ResolvedAddress {
        let key = OctetText(host)
        if let known = state.withLock({ $0.names[key] }), ContinuousClock.now < known.end { return known.address }
        let found: [ResolvedAddress]
        do throws(DocumentFetch.Refusal) {
            found = try await names.addresses(of: host, timeLeft: max(.zero, end - .now))
        } catch {
            throw OutboundFailure(.connectTimeout, cause: "'\(host)' was not resolved in time")
        }
        guard let address = found.first(where: { $0.octets.count == 4 }) ?? found.first else {
            throw OutboundFailure(
                .notSent, cause: "nobody here knows the name '\(host)'; where only the proxy knows names, set outbound.proxyResolves")
        }
        state.withLock { state in
            if state.names.count >= Self.mostNames { state.names = [:] }
            state.names[key] = (address, .now + Self.fresh)
        }
        return address
    }

    private func message(_ request: OutboundRequest) -> HTTPClientRequest {
        var message = HTTPClientRequest(url: request.url)
        message.method =
            switch request.method {
            case .get: .GET
            case .post: .POST
            case .delete: .DELETE
            }
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        // Whole answers are bounded before they are decoded, so that no coding is asked for (RFC 9110 §12.5.3).
        for (name, value) in [("User-Agent", options.userAgent), ("Accept", "*/*"), ("Accept-Encoding", "identity")]
        where !message.headers.contains(name: name) { message.headers.add(name: name, value: value) }
        if let body = request.body { message.body = .bytes(body) }
        return message
    }

    /// - Returns: The client, which counts one call more.
    private func client(for way: Way) throws(OutboundFailure) -> Counted {
        if let client = known(way) { return client }
        let route = way.route
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try Self.tls(route)
        configuration.timeout = .init(connect: TimeAmount(route.connectTimeout), read: TimeAmount(route.responseTimeout))
        configuration.redirectConfiguration = .disallow
        // The client looks the name up as it is written, and in small letters behind a proxy.
        if let pin = route.pin { for name in [pin.host, pin.host.lowercased()] { configuration.dnsOverride[name] = pin.address } }
        if let proxy = way.proxy { configuration.proxy = proxy.configuration(userAgent: options.userAgent) }
        configuration.httpVersion =
            switch route.version {
            case .http1: .http1Only
            case .http2: .automatic
            }
        // Nobody uses it any more when it is older.
        if let age = route.connectionAge {
            configuration.connectionPool.idleTimeout = min(TimeAmount(age), configuration.connectionPool.idleTimeout)
        }
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = route.connections
        return keep(HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration), for: way)
    }

    private func known(_ way: Way) -> Counted? {
        let (known, old) = state.withLock { state -> (Counted?, Counted?) in
            state.uses += 1
            guard let kept = state.clients[way] else { return (nil, nil) }
            if let end = kept.end, end <= .now {
                state.clients[way] = nil
                return (nil, kept.client)
            }
            state.clients[way]?.lastUse = state.uses
            kept.client.calls.add(1, ordering: .relaxed)
            return (kept.client, nil)
        }
        if let old { Self.retire(old) }
        return known
    }

    /// - Returns: The client to use: another call may have been faster.
    private func keep(_ made: HTTPClient, for way: Way) -> Counted {
        let client = Counted(made)
        let (used, spare) = state.withLock { state in
            let used = state.clients[way]?.client ?? client
            used.calls.add(1, ordering: .relaxed)
            if used !== client { return (used, client as Counted?) }
            let oldest = state.clients.count < Self.largestCount ? nil : state.clients.min { $0.value.lastUse < $1.value.lastUse }?.key
            let retired = oldest.flatMap { state.clients.removeValue(forKey: $0) }?.client
            state.clients[way] = Kept(client: client, lastUse: state.uses, end: way.route.connectionAge.map { .now + Self.varied($0) })
            return (used, retired)
        }
        if let spare { Self.retire(spare) }
        return used
    }

    /// Copies that started together do not all connect anew at the same moment.
    private static func varied(_ age: Duration) -> Duration { age * Double.random(in: 0.8...1) }

    private static func retire(_ client: Counted) {
        Task {
            let end = ContinuousClock.now + retirement
            while client.calls.load(ordering: .acquiring) > 0, .now < end {
                // Cancelled or not, the calls that use it are to end by themselves.
                try? await Task.sleep(for: .milliseconds(250))
            }
            try? await client.http.shutdown()
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

extension EgressProxy {
    /// - Parameter userAgent: Proxies have rules for it, too.
    func configuration(userAgent: String) -> HTTPClient.Configuration.Proxy {
        .server(
            host: host, port: port, authorization: credentials.map { .basic(username: $0.user, password: $0.password) },
            connectHeaders: ["User-Agent": userAgent])
    }
}
