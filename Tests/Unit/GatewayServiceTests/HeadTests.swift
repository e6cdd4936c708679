internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import Testing

/// HEAD: as GET where that is safe, refused where it acts, and without content in any case (RFC 9110 §9.3.2).
@Suite struct HeadTests {
    private static let probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// A target of the route.
    static func target(_ route: Route) -> String {
        let values = [
            "{requestor}": "ACME1", "{serviceProvider}": "ACME1", "{mvpd}": "NorthCable", "{code}": "QK7M2XD", "{file}": "style.css",
            "{version}": "1",
            "{dimensions*}": "year",
        ]
        let path = route.path.split(separator: "/").map { values[String($0)] ?? ($0.hasPrefix("{") ? "x1" : String($0)) }.joined(separator: "/")
        return "/\(path)?\(TestGateway.deviceQuery)&resource=ACME1-NEWS&code=QK7M2XD&reg_code=QK7M2XD"
    }

    private static func head(_ method: String, _ target: String, _ fields: String = "") -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\nX-Device-Info: \(TestGateway.deviceInformation)\r\n"
            + "AP-Device-Identifier: fingerprint ZGV2LTdmM2E=\r\n\(fields)\r\n"
    }

    /// The heads of two answers between which nothing stands, and the content of the second.
    private func exchange(_ port: Int, _ request: String) async throws -> String {
        try await RawConnection.with(port) { connection in
            await connection.send(request)
            try await connection.wait(for: "an answer to \(request.prefix(80))") { $0.text.contains("\r\n\r\n") || $0.isClosed }
            await connection.send(Self.probe)
            try await connection.wait(for: "the next answer") { $0.text.hasSuffix("\r\n\r\nok\n") || $0.isClosed }
            return connection.text
        }
    }

    @Test("HEAD has no content at any route, and is 405 where GET acts", arguments: [ListenerKind.everybody, .administration])
    func everyRoute(door: ListenerKind) async throws {
        let gateway = TestGateway()
        let routes = try gateway.table().routes(at: door)
        try await gateway.exchange(over: .live, at: door) { client in
            let port = try #require(client.port)
            for route in routes {
                let text = try await exchange(port, Self.head("HEAD", Self.target(route)))
                let parts = text.components(separatedBy: "\r\n\r\n")
                #expect(parts.count == 3 && parts[1].hasPrefix("HTTP/1.1 200 OK\r\n") && parts[2] == "ok\n", "\(route.path): \(text.prefix(900))")
                let isServed = route.handler(for: .head) != nil
                #expect(text.hasPrefix("HTTP/1.1 405 ") == !isServed, "\(route.path): \(text.prefix(40))")
                if !isServed { #expect(parts[0].contains("\r\nAllow: ") && !parts[0].contains("HEAD"), "\(route.path)") }
                if isServed, route.handlers[.get] != nil, route.handlers[.head] == nil {
                    let get = try await RawConnection.with(port) { connection in
                        await connection.send(Self.head("GET", Self.target(route)))
                        try await connection.wait(for: "GET \(route.path)") { !$0.statuses.isEmpty }
                        return connection.statuses[0]
                    }
                    #expect(parts[0].hasPrefix("HTTP/1.1 \(get) "), "\(route.path): HEAD is \(parts[0].prefix(12)), GET \(get)")
                }
            }
        }
    }

    @Test("whatever acts on GET is among those that the specifications name")
    func actingRoutes() throws {
        let acting = try TestGateway().routes().filter { $0.handlers[.get] != nil && $0.handler(for: .head) == nil }.map(\.path).sorted()
        #expect(
            acting == [
                "/admin/v1/applications/{id}/statement", "/adobe-services/1.0/authenticate/saml", "/adobe-services/authenticate/saml",
                "/adobe-services/logout", "/adobe-services/logout/oauth", "/adobe-services/oauth2", "/adobe-services/oauth2/{mvpd}",
                "/api/v1/authenticate",
                "/api/v1/authenticate/{code}", "/api/v1/authorize",
                "/api/v1/logout",
                "/api/v1/mediatoken", "/api/v1/tokens/media", "/api/v1/{requestor}/profile-requests/{mvpd}",
                "/api/v2/authenticate/{serviceProvider}/{code}", "/api/v2/{serviceProvider}/logout/{mvpd}", "/api/{serviceProvider}/serviceToken",
                "/apple/v1/{requestor}/web", "/bridge/return/{handle}", "/bridge/signed-out/{handle}", "/sp/saml/LogoutServiceHTTPRedirectResponse",
                "/test-sign-in/{ticket}",
            ])
    }

    @Test("HEAD changes nothing where GET acts")
    func actsOnNothing() async throws {
        let gateway = TestGateway()
        for path in [
            "/api/v1/authorize", "/api/v1/mediatoken", "/api/v1/tokens/media", "/api/v1/logout", "/api/v1/authenticate/QK7M2XD",
            "/api/v1/authenticate",
        ] {
            let reply = try await gateway.send(.head, "\(path)?\(TestGateway.deviceQuery)&resource=ACME1-NEWS&reg_code=QK7M2XD")
            #expect(reply.status == 405 && reply.headers[.allow]?.contains("OPTIONS") == true, "\(path)")
        }
        #expect(gateway.authorization.authorize.requests.isEmpty && gateway.authorization.issueMediaToken.requests.isEmpty)
        #expect(gateway.authentication.logout.requests.isEmpty && gateway.authentication.startSignIn.requests.isEmpty)
        #expect(gateway.authentication.getOwnSessionByCode.requests.isEmpty)
    }

    @Test(
        "refusals of HEAD have no content",
        arguments: [
            "HEAD /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD /api/v1/checkauthn HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "HEAD /api/v1//checkauthn HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD /o/client/token HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "HEAD /api/v1/config/NOBODY HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD /activate/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "HEAD /sp/saml/SAMLAssertionConsumer HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "HEAD /adobe-services/clientless HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ])
    func refusals(request: String) async throws {
        try await TestGateway().exchange(over: .live) { client in
            let text = try await exchange(try #require(client.port), request)
            let parts = text.components(separatedBy: "\r\n\r\n")
            #expect(parts.count == 3 && parts[2] == "ok\n", "\(text)")
        }
    }

    @Test("so has one at the listener for administration that names another host, and one that a pipeline is behind")
    func misdirected() async throws {
        try await TestGateway().exchange(over: .live, at: .administration) { client in
            let text = try await exchange(try #require(client.port), "HEAD /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            #expect(text.hasPrefix("HTTP/1.1 421 ") && text.components(separatedBy: "\r\n\r\n").count == 3, "\(text)")
        }
    }

    @Test("the answer to HEAD says the length of that to GET")
    func length() async throws {
        try await TestGateway().exchange(over: .live) { client in
            let port = try #require(client.port)
            for target in ["/api/v1/config/ACME1.json", "/openapi.json", "/activate", "/nowhere"] {
                let (head, get) = (try await exchange(port, Self.head("HEAD", target)), try await exchange(port, Self.head("GET", target)))
                func length(_ text: String) -> Substring? { text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length: ") } }
                #expect(length(head) != nil && length(head) == length(get), "\(target)")
            }
        }
    }

    @Test("a HEAD that asks with a wrong code is charged like its GET")
    func codesAreCharged() async throws {
        let gateway = TestGateway(trusted: ["127.0.0.1/32"])
        gateway.authentication.getRegistrationCode.fail(with: Fault(.invalidRegistrationCode, "unknown"))
        let headers = TestGateway.device.with(.forwardedFor, "203.0.113.9")
        try await gateway.exchange(over: .live) { client in
            var statuses: [Int] = []
            for number in 0..<8 {
                let path = "/reggie/v1/ACME1/regcode/ZZZZZ0\(number)"
                statuses.append(try await client.execute(uri: path, method: .head, headers: headers) { $0.status.code })
            }
            #expect(statuses.contains(429), "\(statuses)")
        }
    }

    @Test("over HTTP/2, HEAD ends its stream without content and harms no other")
    func streams() async throws {
        try await HttpsTests.serving { port, files, _ in
            let routes = try TestGateway().table().routes(at: .everybody)
            try await RawConnection.with(port, tls: try files.client(["h2"])) { connection in
                await connection.send(HostileHttp2Tests.greeting)
                let targets = routes.map { String(Self.target($0).prefix(110)) } + ["/nowhere", "/api/v1//x", "/activate/"]
                // As many as a client may have under way.
                for begin in stride(from: 0, to: targets.count, by: 45) {
                    let batch = targets.indices.dropFirst(begin).prefix(45)
                    await connection.send(
                        batch.flatMap { number in
                            HostileHttp2Tests.headers(
                                UInt32(4 * number + 1), HostileHttp2Tests.request("HEAD", targets[number], [("accept", "application/json")]))
                                + HostileHttp2Tests.headers(UInt32(4 * number + 3), HostileHttp2Tests.request("GET", "/healthz"))
                        })
                    var looked = 0
                    try await connection.wait(for: "answers from \(begin) on") { connection in
                        guard connection.bytes.count > looked else { return false }
                        looked = connection.bytes.count
                        return HostileHttp2Tests.frames(connection.bytes).count { $0.stream > 0 && $0.flags & 1 != 0 && $0.type < 2 } >= 2
                            * (begin + batch.count)
                    }
                }
                let frames = HostileHttp2Tests.frames(connection.bytes)
                for frame in frames where frame.type == 0 && frame.stream % 4 == 1 {
                    #expect(frame.payload.isEmpty, "\(targets[Int(frame.stream / 4)])")
                }
                #expect(!frames.contains { $0.type == 3 || $0.type == 7 }, "no stream was reset, and the connection goes on")
                #expect(frames.count { $0.type == 0 && $0.payload == Array("ok\n".utf8) } == targets.count)
            }
        }
    }
}
