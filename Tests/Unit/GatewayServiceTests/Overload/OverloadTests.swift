internal import Contracts
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import Logging
internal import NIOCore
internal import Testing

/// The answers of an overloaded gateway.
@Suite struct OverloadTests {
    private static let host = "Host: tv.example\r\n"

    @Test("rest-v1 §2.1: a page of a registered domain reads that it is to ask again, a stranger's does not")
    func pagesReadTheRefusal() throws {
        let refusals = try refusals(TestGateway())
        for path in ["/api/v1/checkauthn", "/api/v2/ACME1/profiles", "/o/client/token", "/indiv/devices"] {
            for (origin, isAdmitted) in [("https://www.acme.example", true), ("https://evil.example", false)] {
                var request = Self.request(.get, path)
                request.headerFields[.origin] = origin
                let fields = try #require(refusals.reply(to: request, sparesUrgent: false)).fields
                #expect(fields[.accessControlAllowOrigin] == (isAdmitted ? origin : nil), "\(path)")
                #expect(fields[.vary] == "Origin" && fields[.retryAfter] == "1")
                #expect((fields[.accessControlExposeHeaders]?.contains("Retry-After") ?? false) == isAdmitted)
            }
        }
    }

    private func refusals(_ gateway: TestGateway, transportSecurity: String? = nil) throws -> OverloadRefusals {
        OverloadRefusals(
            routes: RouteTree(try gateway.routes()), settings: gateway.settings, faces: try gateway.faces(), metrics: RequestMetrics(),
            transportSecurity: transportSecurity, catalogue: gateway.catalogue, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func request(_ method: HTTPRequest.Method, _ path: String, accept: String = "application/json") -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "tv.example", path: path, headerFields: [.accept: accept])
    }

    /// Has many connections ask at the same time.
    private func flood(_ settings: OverloadSettings, then work: @escaping @Sendable ([RawConnection]) async throws -> Void) async throws {
        let gateway = TestGateway(connections: ConnectionLimits(head: .seconds(600), idle: .seconds(600)), overload: settings)
        Self.keepBusy(gateway)
        try await gateway.exchange(over: .live) { client in
            let port = try #require(client.port)
            var connections: [RawConnection] = []
            for _ in 0..<8 * System.coreCount { connections.append(try await RawConnection.open(port)) }
            let request =
                "GET /api/v1/checkauthn?\(TestGateway.deviceQuery) HTTP/1.1\r\n\(Self.host)Authorization: Bearer good\r\nAccept: application/json\r\n"
                + "X-Device-Info: \(TestGateway.deviceInformation)\r\n\r\n"
            await withTaskGroup(of: Void.self) { group in
                for connection in connections { group.addTask { await connection.send(request) } }
            }
            for connection in connections { try await connection.wait(for: "an answer") { $0.statuses.count == 1 || $0.isClosed } }
            try await work(connections)
            for connection in connections { await connection.close() }
        }
    }

    /// Each question for a session keeps its event loop busy for 10 ms, or for so long.
    static func keepBusy(_ gateway: TestGateway, for time: Duration = .milliseconds(10)) {
        gateway.authentication.getSession.answer { _, _ in
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end {}
            return Session(id: "s1", requestor: "ACME1", mvpd: "NorthCable", userID: "u", expiresAtMilliseconds: 1_930_384_800_123)
        }
    }

    static let strict = OverloadSettings(delay: .milliseconds(1), burst: .milliseconds(1), leastRequests: 1)

    @Test func whatCannotBeServedInTimeIsRefusedAtOnceAndTheConnectionGoesOn() async throws {
        try await flood(Self.strict) { connections in
            let refused = connections.filter { $0.statuses == [503] }
            #expect(!refused.isEmpty && connections.contains { $0.statuses == [200] })
            #expect(connections.allSatisfy { $0.statuses == [200] || $0.statuses == [503] })
            for connection in refused {
                #expect(connection.text.contains("\r\nRetry-After: 1\r\n") && connection.text.contains("\r\nAdobe-Request-Id: "))
                #expect(connection.text.contains(#"{"status":503,"message":"The service is temporarily unavailable.","details":null}"#))
            }
            let connection = try #require(refused.first)
            await connection.send("GET /healthz HTTP/1.1\r\n\(Self.host)\r\n")
            try await connection.wait(for: "the next answer") { $0.statuses.count == 2 || $0.isClosed }
            #expect(connection.statuses == [503, 200])
        }
    }

    @Test func nobodyIsRefusedForWhatOthersSendAhead() async throws {
        let gateway = TestGateway(connections: ConnectionLimits(head: .seconds(600), idle: .seconds(600)))
        Self.keepBusy(gateway, for: .milliseconds(1))
        let request =
            "GET /api/v1/checkauthn?\(TestGateway.deviceQuery) HTTP/1.1\r\n\(Self.host)Authorization: Bearer good\r\n"
            + "X-Device-Info: \(TestGateway.deviceInformation)\r\n\r\n"
        let (ahead, rounds) = (150, 8)
        try await gateway.exchange(over: .live) { client in
            let port = try #require(client.port)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 * System.coreCount {
                    group.addTask {
                        try await RawConnection.with(port) { pipeline in
                            await pipeline.send(String(repeating: request, count: ahead))
                            try await pipeline.wait(for: "what was sent ahead") { $0.statuses.count == ahead || $0.isClosed }
                            #expect(pipeline.statuses.allSatisfy { $0 == 200 } && pipeline.statuses.count == ahead)
                        }
                    }
                }
                for _ in 0..<3 * System.coreCount {
                    group.addTask {
                        try await RawConnection.with(port) { neighbour in
                            for asked in 1...rounds {
                                await neighbour.send(request)
                                try await neighbour.wait(for: "an answer") { $0.statuses.count == asked || $0.isClosed }
                            }
                            #expect(neighbour.statuses == Array(repeating: 200, count: rounds))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func aBurstIsServed() async throws {
        try await flood(OverloadSettings(delay: .seconds(10), burst: .seconds(10), leastRequests: 1)) { connections in
            #expect(connections.allSatisfy { $0.statuses == [200] })
        }
    }

    @Test(
        "health checks and preflights are answered in any case",
        arguments: ["GET /healthz", "GET /readyz", "OPTIONS /api/v1/checkauthn", "OPTIONS /nowhere"])
    func exempt(line: String) throws {
        let parts = line.split(separator: " ").map(String.init)
        let method = try #require(HTTPRequest.Method(parts[0]))
        #expect(try refusals(TestGateway()).reply(to: Self.request(method, parts[1]), sparesUrgent: false) == nil)
    }

    @Test func whatAPersonHasBegunIsRefusedLater() throws {
        let refusals = try refusals(TestGateway())
        for path in ["/sp/saml/SAMLAssertionConsumer", "/activate", "/api/v1/authenticate?reg_code=x", "/admin/v1/draft", "/api/v1/logout"] {
            #expect(refusals.reply(to: Self.request(.get, path), sparesUrgent: true) == nil, "\(path)")
            #expect(refusals.reply(to: Self.request(.get, path), sparesUrgent: false) != nil, "\(path)")
        }
        for path in ["/api/v1/checkauthn", "/o/client/token", "/api/v1/config/ACME1", "/auto-signin/v1/ACME1/redeem", "/nowhere"] {
            #expect(refusals.reply(to: Self.request(.get, path), sparesUrgent: true) != nil, "\(path)")
        }
    }

    @Test("a refusal has the id of the caller's trace, in its header and in its body")
    func trace() throws {
        let refusals = try refusals(TestGateway(), transportSecurity: nil)
        var request = Self.request(.get, "/admin/v1/draft", accept: "")
        request.headerFields[.traceparent] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        let reply = try #require(refusals.reply(to: request, sparesUrgent: false))
        #expect(reply.fields[.requestID] == "4bf92f35-77b3-4da6-a3ce-929d0e0e4736")
        #expect(String(buffer: reply.body).contains("4bf92f3577b34da6a3ce929d0e0e4736"))
    }

    @Test(
        "the format is the one that was asked for",
        arguments: [
            ("/api/v1/checkauthn.xml", "application/json", "application/xml; charset=utf-8", "<status>503</status>"),
            ("/api/v1/checkauthn", "", "application/xml; charset=utf-8", "<status>503</status>"),
            ("/api/v1/checkauthn.json?a=b", "text/xml", "application/json; charset=utf-8", #""status":503"#),
            ("/api/v9/nothing", "application/json", "application/json; charset=utf-8", #""status":503"#),
            ("/o/client/token", "", "application/json; charset=utf-8", #"{"error":"temporarily_unavailable"}"#),
            ("/admin/v1/draft", "", "application/json; charset=utf-8", #""code":"unavailable""#),
            ("/auto-signin/v1/ACME1/redeem", "", "application/json; charset=utf-8", #""code":"service_unavailable""#),
            ("/activate", "", "text/html; charset=utf-8", "Please try again in a moment"),
            ("/nowhere", "application/json", "text/html; charset=utf-8", "Please try again in a moment"),
        ])
    func form(path: String, accept: String, type: String, part: String) throws {
        let refusals = try refusals(TestGateway(), transportSecurity: "max-age=300")
        let reply = try #require(refusals.reply(to: Self.request(.get, path, accept: accept), sparesUrgent: false))
        #expect(reply.status == .serviceUnavailable && reply.fields[.retryAfter] == "1" && reply.fields[.requestID] != nil)
        #expect(reply.fields[.contentType] == type && String(buffer: reply.body).contains(part))
        #expect(reply.fields[.cacheControl] == "no-store" && reply.fields[.strictTransportSecurity] == "max-age=300")
        let head = try #require(refusals.reply(to: Self.request(.head, path, accept: accept), sparesUrgent: false))
        let answer = Http1Answer(status: head.status, fields: head.fields, body: head.body, connection: .stays, isHead: true)
        #expect(String(buffer: answer.bytes()).hasSuffix("\r\n\r\n"), "where it leaves, its content is dropped")
    }

    @Test func theDescriptionHasThe503OfEachOperationThatMayBeRefused() throws {
        let content = try Data(contentsOf: URL(filePath: TestGateway.pages).appending(path: "openapi.json"))
        let document = try #require(try JSONSerialization.jsonObject(with: content) as? [String: Any])
        let components = try #require(document["components"] as? [String: Any])
        let shared = try #require(components["responses"] as? [String: [String: Any]])
        let refusals = try refusals(TestGateway())
        var checked = 0
        for (path, item) in try #require(document["paths"] as? [String: [String: Any]]) {
            for (name, operation) in item {
                guard let method = HTTPRequest.Method(name.uppercased()), let operation = operation as? [String: Any],
                    let responses = operation["responses"] as? [String: [String: Any]],
                    let reply = refusals.reply(to: Self.request(method, path, accept: "application/json"), sparesUrgent: false)
                else { continue }
                var described = try #require(responses["503"], "\(name) \(path)")
                if let reference = described["$ref"] as? String {
                    described = try #require(shared[String(reference.split(separator: "/").last ?? "")])
                }
                #expect((described["headers"] as? [String: Any])?["Retry-After"] != nil, "\(name) \(path)")
                let types = (described["content"] as? [String: Any] ?? [:]).keys
                let type = reply.fields[.contentType].map { $0.prefix { $0 != ";" } } ?? ""
                #expect(method == .head || reply.body.readableBytes == 0 || types.contains(String(type)), "\(name) \(path): \(type)")
                checked += 1
            }
        }
        #expect(checked > 100)
    }
}
