internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import NIOCore
internal import Testing

/// The promises of a connection of HTTP/1.1 to clients that keep the rules.
@Suite struct Http1ConversationTests {
    private static let host = "Host: tv.example\r\n"
    private static let form = "Content-Type: application/x-www-form-urlencoded\r\n"

    private func converse(_ gateway: TestGateway = TestGateway(), _ work: @escaping @Sendable (RawConnection) async throws -> Void) async throws {
        try await gateway.exchange(over: .live) { client in
            try await RawConnection.with(try #require(client.port)) { try await work($0) }
        }
    }

    @Test func requestsSentAheadOfAWorkingServiceAreAnsweredInOrder() async throws {
        let gateway = TestGateway()
        gateway.authentication.getSession.answer { request, _ in
            // The earlier one takes longer.
            if request.call?.deviceID == "slow" { try await Task.sleep(for: .milliseconds(200)) }
            throw Fault(.authenticationSessionMissing, "none")
        }
        let information = TestGateway.deviceInformation
        let requests = ["/api/v1/checkauthn?requestor=ACME1&deviceId=slow", "/api/v1/checkauthn?requestor=ACME1&deviceId=", "/healthz"]
        try await converse(gateway) { connection in
            let text = requests.map { "GET \($0) HTTP/1.1\r\n\(Self.host)Authorization: Bearer good\r\nX-Device-Info: \(information)\r\n\r\n" }
            await connection.send(text.joined())
            try await connection.wait(for: "three answers") { $0.statuses.count == 3 || $0.isClosed }
            #expect(connection.statuses == [403, 400, 200])
        }
    }

    @Test func manyMoreRequestsThanMayWaitAreAllAnswered() async throws {
        try await converse { connection in
            await connection.send(String(repeating: "GET /healthz HTTP/1.1\r\n\(Self.host)\r\n", count: 500))
            try await connection.wait(for: "500 answers") { $0.statuses.count == 500 || $0.isClosed }
            #expect(connection.statuses.count == 500)
        }
    }

    @Test func aClientThatSaysNoMoreGetsEveryAnswer() async throws {
        let gateway = TestGateway()
        gateway.authentication.issueAccessToken.answer { _, _ in
            try await Task.sleep(for: .milliseconds(100))
            throw Fault(.invalidClient, "unknown")
        }
        try await converse(gateway) { connection in
            let body = "grant_type=client_credentials&client_id=a&client_secret=b"
            let post = "POST /o/client/token HTTP/1.1\r\n\(Self.host)\(Self.form)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            await connection.send(post + "GET /healthz HTTP/1.1\r\n\(Self.host)\r\n")
            await connection.closeOutput()
            try await connection.wait(for: "the end") { $0.isClosed }
            #expect(connection.statuses.count == 2 && connection.statuses.last == 200)
        }
    }

    @Test("a body comes as it comes", arguments: [1, 7, 4000])
    func bodiesInPieces(size: Int) async throws {
        let gateway = TestGateway()
        try await converse(gateway) { connection in
            let body = Array("grant_type=client_credentials&client_id=a&client_secret=\(String(repeating: "b", count: 3000))".utf8)
            await connection.send("POST /o/client/token HTTP/1.1\r\n\(Self.host)\(Self.form)Content-Length: \(body.count)\r\n\r\n")
            for start in stride(from: 0, to: body.count, by: max(size, body.count / 40)) {
                await connection.send(Array(body[start..<min(start + max(size, body.count / 40), body.count)]))
            }
            try await connection.wait(for: "the answer") { !$0.statuses.isEmpty || $0.isClosed }
            #expect(connection.statuses == [201] || connection.statuses == [200])
            #expect(gateway.authentication.issueAccessToken.requests.last?.clientSecret.count == 3000)
            await connection.send("GET /healthz HTTP/1.1\r\n\(Self.host)\r\n")
            try await connection.wait(for: "the next answer") { $0.statuses.count == 2 || $0.isClosed }
            #expect(connection.statuses.last == 200, "the connection stays in step")
        }
    }

    @Test("a body whose pieces wait behind a request under way comes whole, and each piece once")
    func bodiesThatWait() async throws {
        let gateway = TestGateway()
        let (arrived, arrive) = AsyncStream.makeStream(of: Void.self)
        let (left, leave) = AsyncStream.makeStream(of: Void.self)
        gateway.authentication.getSession.answer { _, _ in
            arrive.yield()
            for await _ in left { break }
            throw Fault(.authenticationSessionMissing, "none")
        }
        try await converse(gateway) { connection in
            let chunks = ["grant_type=client_", "credentials&client_id=a&client", "_secret=b"]
            await connection.send(
                "GET /api/v1/checkauthn?requestor=ACME1&deviceId=d HTTP/1.1\r\n\(Self.host)Authorization: Bearer good\r\n\r\n"
                    + "POST /o/client/token HTTP/1.1\r\n\(Self.host)\(Self.form)Transfer-Encoding: chunked\r\n\r\n"
                    + chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\r\n")
            for await _ in arrived { break }
            leave.finish()
            try await connection.wait(for: "two answers") { $0.statuses.count == 2 || $0.isClosed }
            #expect(connection.statuses == [403, 201], "\(connection.text)")
            #expect(gateway.authentication.issueAccessToken.requests.map(\.clientSecret) == ["b"])
        }
    }

    @Test func anAnswerNamesItsDate() async throws {
        try await converse { connection in
            await connection.send("GET /healthz HTTP/1.1\r\n\(Self.host)\r\n")
            try await connection.wait(for: "the answer") { $0.statuses == [200] || $0.isClosed }
            let date = connection.text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("date: ") }
            #expect(date?.hasSuffix(" GMT") == true)
        }
    }

    @Test(
        "dates have the form of RFC 9110 §5.6.7",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (1_709_210_096, "Thu, 29 Feb 2024 12:34:56 GMT"),
        ])
    func dates(second: Int, text: String) {
        #expect(HttpDate.text(second) == text)
    }
}

/// How paths find their routes.
@Suite struct RouteTreeTests {
    private func tree(_ paths: String...) -> RouteTree { RouteTree(paths.map { Route($0, .browser, [:]) }) }

    @Test(
        "a literal segment goes before a captured one, and a capture is tried when the literal leads nowhere",
        arguments: [
            ("/a/b", "/a/b", []), ("/a/x", "/a/{one}", ["x"]), ("/a/b/c", "/a/{one}/c", ["b"]), ("/a/b/d", "/a/b/d", []), ("//a//b/", "/a/b", []),
            ("/a/%62", "/a/{one}", ["%62"]),
        ])
    func finds(path: String, route: String, captured: [String]) throws {
        let match = try #require(tree("/a/b", "/a/{one}", "/a/{one}/c", "/a/b/d").match(path))
        #expect(match.route.path == route)
        #expect(match.captures.map { String($0.text) } == captured)
    }

    @Test(
        "a capture of all that is left takes one segment or more, where nothing else leads anywhere",
        arguments: [
            ("/a/x", "/a/{rest*}", ["x"]), ("/a/x/y/z", "/a/{rest*}", ["x/y/z"]), ("/a/b", "/a/b", []), ("/a/b/c", "/a/{rest*}", ["b/c"]),
            ("/a/x/y/", "/a/{rest*}", ["x/y"]), ("/a/x/end", "/a/{one}/end", ["x"]), ("/a", "/a", []),
        ])
    func findsTheRest(path: String, route: String, captured: [String]) throws {
        let match = try #require(tree("/a", "/a/b", "/a/{one}/end", "/a/{rest*}").match(path))
        #expect(match.route.path == route)
        #expect(match.captures.map { String($0.text) } == captured)
    }

    @Test(arguments: ["/", "", "/a", "/a/b/c/d", "/b", "/A/b"])
    func findsNothing(path: String) {
        #expect(tree("/a/b", "/a/{one}/c").match(path) == nil)
    }
}
