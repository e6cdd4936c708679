#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import AsyncHTTPClient
internal import CZlib
internal import NIOCore
internal import NIOPosix
internal import Spans
internal import Synchronization

/// An address of a name.
struct ResolvedAddress: Hashable, Sendable {
    /// 4 or 16, in network order.
    let octets: [UInt8]
    /// As it is written.
    let text: String
}

/// Asks what a name means; tests put their own in its place.
protocol NameResolving: Sendable {
    /// - Returns: All of them; empty when nobody knows the name.
    /// - Throws: `tooSlow`.
    func addresses(of host: String, timeLeft: Duration) async throws(DocumentFetch.Refusal) -> [ResolvedAddress]
}

/// Asks a place for its document, over a connection to one address; tests put their own in its place.
protocol PinnedCarrier: Sendable {
    func get(
        _ place: FetchPlace, at address: ResolvedAddress, largest: Int, timeLeft: Duration
    ) async throws(DocumentFetch.Refusal) -> OutboundAnswer
}

/// The machine's own resolver.
struct SystemNames: NameResolving {
    func addresses(of host: String, timeLeft: Duration) async throws(DocumentFetch.Refusal) -> [ResolvedAddress] {
        // The resolver blocks its thread; whoever waits for it does not.
        let found: [ResolvedAddress]? = await withCheckedContinuation { continuation in
            let first = FirstAnswer(continuation)
            NIOThreadPool.singleton.submit { state in
                let isActive = if case .active = state { true } else { false }
                first.resume(isActive ? Self.resolve(host) : [])
            }
            Task {
                try? await Task.sleep(for: timeLeft)
                first.resume(nil)
            }
        }
        guard let found else { throw .tooSlow }
        return found
    }

    private static func resolve(_ host: String) -> [ResolvedAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0, let first else { return [] }
        defer { freeaddrinfo(first) }
        return sequence(first: first, next: \.pointee.ai_next).compactMap { entry -> ResolvedAddress? in
            guard let raw = entry.pointee.ai_addr else { return nil }
            switch Int32(raw.pointee.sa_family) {
            case AF_INET:
                let address = raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee }
                return ResolvedAddress(octets: withUnsafeBytes(of: address.sin_addr) { Array($0) }, text: SocketAddress(address).ipAddress ?? "")
            case AF_INET6:
                let address = raw.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee }
                return ResolvedAddress(octets: withUnsafeBytes(of: address.sin6_addr) { Array($0) }, text: SocketAddress(address).ipAddress ?? "")
            default: return nil
            }
        }
    }
}

/// The first answer counts.
private final class FirstAnswer: Sendable {
    private let continuation: Mutex<CheckedContinuation<[ResolvedAddress]?, Never>?>

    init(_ continuation: CheckedContinuation<[ResolvedAddress]?, Never>) { self.continuation = Mutex(continuation) }

    func resume(_ answer: [ResolvedAddress]?) {
        let waiting = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        waiting?.resume(returning: answer)
    }
}

/// One connection for one request; the certificate must be the name's, whichever address is asked.
struct PinnedHttp: PinnedCarrier {
    let options: OutboundOptions

    func get(
        _ place: FetchPlace, at address: ResolvedAddress, largest: Int, timeLeft: Duration
    ) async throws(DocumentFetch.Refusal) -> OutboundAnswer {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.dnsOverride = [place.host: address.text]
        configuration.timeout = .init(connect: min(TimeAmount(timeLeft), .seconds(4)), read: min(TimeAmount(timeLeft), .seconds(5)))
        // The address was checked: a proxy never gets the name, whatever its settings say.
        let proxy = place.url.hasPrefix("https:") ? options.proxies.proxy(for: place.host, at: address.text) : nil
        if let proxy { configuration.proxy = proxy.configuration(userAgent: options.userAgent) }
        let tunnel = proxy.map { ProxyTunnel($0, host: address.text, port: place.port, userAgent: options.userAgent) }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let span = Span.outbound("GET", place.url)
        let outcome: Result<OutboundAnswer, DocumentFetch.Refusal>
        do throws(DocumentFetch.Refusal) {
            let answer = try await get(place, by: client, tunnel, largest, timeLeft)
            span?.note(status: answer.status)
            outcome = .success(answer)
        } catch {
            span?.fail("unusable")
            outcome = .failure(error)
        }
        span?.end()
        // A client that fails to close has no connection left to close.
        try? await client.shutdown()
        return try outcome.get()
    }

    private func get(
        _ place: FetchPlace, by client: HTTPClient, _ tunnel: ProxyTunnel?, _ largest: Int, _ timeLeft: Duration
    ) async throws(DocumentFetch.Refusal) -> OutboundAnswer {
        var request = HTTPClientRequest(url: place.url)
        request.headers.add(name: "Accept", value: "application/samlmetadata+xml, application/json, application/xml;q=0.9, */*;q=0.8")
        request.headers.add(name: "Accept-Encoding", value: "identity")
        request.headers.add(name: "User-Agent", value: options.userAgent)
        let end = ContinuousClock.now + timeLeft
        do {
            let response = try await client.execute(request, deadline: .now() + TimeAmount(timeLeft))
            let headers = response.headers.map { (name: $0.name, value: $0.value) }
            let status = Int(response.status.code)
            guard status == 200 || status == 201 else { return OutboundAnswer(status: status, headers: headers) }
            var content = try await response.body.collect(upTo: largest)
            let decoded = try ContentCoding.decoded(headers, content.readBytes(length: content.readableBytes) ?? [], largest: largest)
            return OutboundAnswer(status: status, headers: decoded.headers, body: decoded.body)
        } catch let problem as ContentCoding.Problem {
            throw .coding(problem.description)
        } catch is NIOTooManyBytesError {
            throw .tooLarge(largest)
        } catch {
            if let failure = await tunnel?.failure(error, timeLeft: end - .now) { throw .proxy(failure.cause) }
            if let error = error as? HTTPClientError, [.deadlineExceeded, .readTimeout, .connectTimeout].contains(error) { throw .tooSlow }
            throw .unreachable(host: place.host)
        }
    }
}

/// Codings of a body (RFC 9110 §8.4). Nobody is asked for one; caches in front of providers send gzip all the same.
enum ContentCoding {
    /// Decoded octets for each one that came: more is no document, but an attack.
    static let largestRatio = 100
    /// Whatever the ratio, as much may come of a body.
    private static let smallest = 16 * 1024

    /// Why a body cannot be decoded.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameters:
    ///   - headers: The headers of the answer. Those about a coding that was taken off are left out.
    ///   - body: As it came.
    ///   - largest: Octets of the decoded body.
    /// - Throws: `Problem` for another coding than gzip, a body that is none, and one that decodes to too much.
    static func decoded(
        _ headers: [OutboundRequest.Header], _ body: [UInt8], largest: Int
    ) throws(Problem) -> (headers: [OutboundRequest.Header], body: [UInt8]) {
        var codings: [String] = []
        for header in headers where isNamed(header.name, "content-encoding") {
            for part in header.value.split(separator: ",") {
                let name = part.filter { $0 != " " && $0 != "\t" }.lowercased()
                if !name.isEmpty, name != "identity" { codings.append(name) }
            }
        }
        guard !codings.isEmpty, !body.isEmpty else { return (headers, body) }
        guard codings.allSatisfy({ $0 == "gzip" || $0 == "x-gzip" }), codings.count == 1 else {
            throw Problem(
                description:
                    "the answer is coded as '\(codings.joined(separator: ", ").prefix(64))', though Accept-Encoding asks for no coding; gzip alone is decoded"
            )
        }
        let rest = headers.filter { !isNamed($0.name, "content-encoding") && !isNamed($0.name, "content-length") }
        return (rest, try gunzip(body, largest: largest))
    }

    static func gunzip(_ body: [UInt8], largest: Int) throws(Problem) -> [UInt8] {
        let (product, isHuge) = body.count.multipliedReportingOverflow(by: largestRatio)
        let room = max(1, min(largest, isHuge ? largest : max(product, smallest)))
        var length = 0
        let output = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            length = czlib_gunzip(body, body.count, buffer.baseAddress, room)
            count = max(0, length)
        }
        switch length {
        case 0...: return output
        case -2:
            throw Problem(description: "the answer is gzip that decodes to more than \(room) bytes, from \(body.count)")
        default: throw Problem(description: "the answer is called gzip and is none, or breaks off")
        }
    }

    private static func isNamed(_ name: String, _ expected: String) -> Bool {
        name.utf8.count == expected.utf8.count && name.lowercased() == expected
    }
}
