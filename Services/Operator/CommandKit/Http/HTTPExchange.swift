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
    /// A request that is refused with `Retry-After` is repeated for this long.
    package var patience: Duration = .zero
    /// The largest body that is read.
    private static let bodyLimit = 4 * 1024 * 1024

    /// Requests to an address really go here.
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
        var patience = HttpRetryBudget(patience)
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

/// Answers that say "later" (RFC 9110 §10.2.3) are followed by another try for this long.
struct HttpRetryBudget: Sendable {
    /// Waits altogether.
    private(set) var left: Duration

    init(_ whole: Duration) { left = whole }

    /// - Returns: The time to wait before the same request is sent again; `nil`: the answer stands. It then says nothing of later, or the time is
    ///   used up.
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

/// Addresses as messages may name them.
package enum WebAddress {
    /// Scheme, host, and the port where it is not the scheme's own. A cookie belongs to these here, and they are all of an address that may be
    /// printed.
    package static func origin(of address: String) -> String {
        guard let parsed = URL(string: address), let host = parsed.host, !host.isEmpty else { return "an address without a host" }
        let scheme = parsed.scheme?.lowercased() ?? "http"
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        guard let port = parsed.port, port != (scheme == "https" ? 443 : 80) else { return "\(scheme)://\(name)" }
        return "\(scheme)://\(name):\(port)"
    }

    /// True when this machine answers there.
    package static func isLocal(_ address: String) -> Bool {
        guard let host = URL(string: address)?.host else { return false }
        return host == "localhost" || host == "::1" || host == "[::1]" || host.hasPrefix("127.")
    }
}

/// An address whose requests go elsewhere, with the same `Host`: curl's `--connect-to`, for a network in which the addresses that browsers outside
/// use lead nowhere.
package struct Detour: Sendable, Equatable {
    let host: String
    let port: Int
    let target: String

    /// `BOXOFFICE_CONNECT_TO`: entries `HOST:PORT:TARGET-HOST:TARGET-PORT`, separated by commas; others are left out.
    static let ofEnvironment = (ProcessInfo.processInfo.environment["BOXOFFICE_CONNECT_TO"] ?? "").split(separator: ",").compactMap {
        Detour(String($0))
    }

    init?(_ text: String) {
        let parts = text.trimmingCharacters(in: .whitespaces).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, !parts[0].isEmpty, !parts[2].isEmpty, let port = UInt16(parts[1]), let targetPort = UInt16(parts[3]) else {
            return nil
        }
        (host, self.port, target) = (parts[0].lowercased(), Int(port), "\(parts[2]):\(targetPort)")
    }

    /// - Returns: Where to send the request, and its `Host`; `nil` for another address.
    func applied(to url: String) -> (url: String, host: String)? {
        guard let parts = URLComponents(string: url), parts.scheme == "http", parts.host?.lowercased() == host, (parts.port ?? 80) == port else {
            return nil
        }
        let authority = parts.port.map { "\(host):\($0)" } ?? host
        guard let range = url.range(of: authority, options: .caseInsensitive) else { return nil }
        return (url.replacingCharacters(in: range, with: target), authority)
    }
}

/// One call of the administration API of the local cluster.
package enum AdministrationCall {
    /// - Parameters:
    ///   - path: Below `/admin/v1`.
    ///   - body: JSON.
    ///   - ifMatch: The entity tag of what is changed.
    /// - Throws: `CommandFailure` with what the cluster says.
    package static func send(_ method: String, _ path: String, body: String? = nil, ifMatch: String? = nil) async throws -> HTTPAnswer {
        try success(of: await attempt(method, path, body: body, ifMatch: ifMatch))
    }

    /// As `send`, and leaves a refusal to the caller.
    /// - Throws: `CommandFailure` when the cluster cannot be reached.
    package static func attempt(_ method: String, _ path: String, body: String? = nil, ifMatch: String? = nil) async throws -> HTTPAnswer {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        var headers = [("Authorization", "Bearer \(cluster.adminToken)")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        if let ifMatch { headers.append(("If-Match", ifMatch)) }
        return try await HTTPExchange.once(trusting: cluster.authority) { [headers] exchange in
            try await exchange.send(method, "\(cluster.administration)/admin/v1\(path)", headers: headers, body: body)
        }
    }

    /// - Throws: `CommandFailure` with what the cluster says.
    package static func success(of answer: HTTPAnswer) throws -> HTTPAnswer {
        guard (200..<300).contains(answer.status) else {
            let error = answer.object["error"] as? [String: Any]
            let problems = (error?["problems"] as? [[String: Any]] ?? []).compactMap { problem in
                (problem["message"] as? String).map { message in
                    [problem["field"] as? String, message].compactMap { $0?.withoutEnd }.filter { !$0.isEmpty }.joined(separator: ": ")
                }
            }
            // The people that an id stands for, though it was to name one person.
            let people = (error?["people"] as? [[String: Any]] ?? []).map { person in
                "--user \(person["user"] as? String ?? "(told by an upstream alone)") --mvpd \(person["mvpd"] as? String ?? "")"
            }
            throw CommandFailure(
                error?["message"] as? String ?? "the cluster answered \(answer.status)",
                advice: problems.isEmpty && people.isEmpty ? nil : (problems + people).joined(separator: "; "))
        }
        return answer
    }

    /// Pushes the draft as it is now.
    /// - Returns: The version that it has become; `nil`: it waits for a second person.
    package static func push(_ description: String) async throws -> Int? {
        let draft = try await send("GET", "/draft")
        return try await send("POST", "/draft/push", body: try json(["description": description]), ifMatch: draft.header("etag")).object["version"]
            as? Int
    }

    package static func json(_ object: Any) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes]), as: UTF8.self)
    }
}
