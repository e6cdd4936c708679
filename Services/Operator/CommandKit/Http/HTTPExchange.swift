package import AsyncHTTPClient
internal import Foundation
package import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import ServiceKit

/// One HTTP answer, read whole.
package struct HTTPAnswer: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }

    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The body as a JSON object; empty when it is none.
    package var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }
}

/// Sends single requests, follows nothing by itself.
package struct HTTPExchange: Sendable {
    package let client: HTTPClient
    /// The longest that one request may take.
    package var timeout: TimeAmount = .seconds(15)
    /// Sent with each request.
    package var headers: [(String, String)] = []
    /// How long a request is repeated that is refused with `Retry-After`.
    package var patience: Duration = .zero
    /// The largest body that is read.
    private static let bodyLimit = 4 * 1024 * 1024

    /// Where requests to an address really go.
    var detours: [Detour] = Detour.ofEnvironment

    package init(client: HTTPClient) { self.client = client }

    /// A client that leaves redirects to its user.
    /// - Parameters:
    ///   - connections: To one server at once; further requests wait.
    ///   - authority: PEM file of one that is trusted beside those that the system knows.
    package static func makeClient(connections: Int = 8, trusting authority: String? = nil) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        configuration.timeout.connect = .seconds(5)
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.file(authority)]
            configuration.tlsConfiguration = tls
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Work with a client of its own, which is shut down after it, whatever came of it.
    /// - Parameter authority: As of `makeClient`.
    package static func once<Outcome>(trusting authority: String? = nil, _ work: (HTTPExchange) async throws -> Outcome) async throws -> Outcome {
        let client = makeClient(trusting: authority)
        let outcome: Result<Outcome, any Error>
        do { outcome = .success(try await work(HTTPExchange(client: client))) } catch { outcome = .failure(error) }
        try await client.shutdown()
        return try outcome.get()
    }

    /// - Throws: `CommandFailure` when the server cannot be reached or breaks off.
    package func send(_ method: String, _ url: String, headers: [(String, String)] = [], body: String? = nil) async throws -> HTTPAnswer {
        var patience = RetryPatience(patience)
        do {
            while true {
                let answer = try await exchange(method, url, headers: headers, body: body.map { ByteBuffer(string: $0) }, timeout: timeout)
                guard let pause = patience.pause(after: answer) else { return answer }
                try await Task.sleep(for: pause)
            }
        } catch {
            throw CommandFailure(
                "\(method) to \(WebAddress.origin(of: url)) failed (\(PlainReason.of(error)))",
                advice: WebAddress.isLocal(url)
                    ? "is the cluster running? Start it with ./Services/up" : "check the address, and that this machine reaches it",
                exit: .unreachable)
        }
    }

    /// As `send`, and throws what the client throws.
    package func exchange(_ method: String, _ url: String, headers: [(String, String)], body: ByteBuffer?, timeout: TimeAmount) async throws
        -> HTTPAnswer
    {
        let detour = detours.lazy.compactMap { $0.applied(to: url) }.first
        var request = HTTPClientRequest(url: detour?.url ?? url)
        if let detour { request.headers.add(name: "Host", value: detour.host) }
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in self.headers + headers { request.headers.add(name: name, value: value) }
        if !request.headers.contains(name: "User-Agent") { request.headers.add(name: "User-Agent", value: SoftwareVersion.userAgent) }
        if let body { request.body = .bytes(body) }
        let response = try await client.execute(request, timeout: timeout)
        let content = try await response.body.collect(upTo: Self.bodyLimit)
        return HTTPAnswer(
            status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) }, body: Array(content.readableBytesView))
    }
}

/// How long answers that say "later" (RFC 9110 §10.2.3) are followed by another try.
struct RetryPatience: Sendable {
    /// Waits altogether.
    private(set) var left: Duration

    init(_ whole: Duration) { left = whole }

    /// - Returns: How long to wait before the same request is sent again; `nil`: the answer stands, as it says nothing of later, or patience is used up.
    mutating func pause(after answer: HTTPAnswer) -> Duration? {
        guard [429, 503].contains(answer.status), let text = answer.header("retry-after"), let seconds = Int(text), (0...3600).contains(seconds)
        else {
            return nil
        }
        let pause = max(Duration.seconds(seconds), .milliseconds(100))
        guard pause <= left else { return nil }
        left -= pause
        return pause
    }
}
