internal import Contracts
internal import Faults
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Hummingbird
internal import Testing

@Suite struct WrongCodeTests {
    private static let headers: HTTPFields = [.forwardedFor: "203.0.113.9", .accept: "application/json"]
    private static let person = ClientAddress(peer: "203.0.113.9", forwarded: [], trusted: [])

    private static func seconds(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000_000) }

    @Test func fiveAMinuteAreFreeThenEachPauseIsTwiceTheOneBefore() {
        var record = WrongCodes()
        var now = Self.seconds(1000)
        for _ in 0..<5 {
            #expect(record.pause(at: now) == 0)
            record.charge(at: now)
        }
        for expected in [30.0, 60, 120, 240, 480, 960, 1920, 3600, 3600] {
            #expect(record.pause(at: now) == Self.seconds(expected))
            now += Self.seconds(expected)
            record.charge(at: now)
        }
    }

    @Test func fourAMinuteArePatience() {
        var record = WrongCodes()
        for attempt in 0..<100 {
            let now = Self.seconds(1000 + Double(attempt / 4) * 60 + Double(attempt % 4))
            #expect(record.pause(at: now) == 0)
            record.charge(at: now)
        }
    }

    @Test func aRightCodeCostsNothingAndForgivesNothing() throws {
        let clock = SetClock()
        let codes = CodeGuard(exempt: [], clock: clock, capacity: 1024)
        for _ in 0..<100 { try Self.ask(codes, "QK7M2XD", isWrong: false) }
        for guess in 0..<4 { try Self.ask(codes, "AAAAAA\(guess)", isWrong: true) }
        try Self.ask(codes, "QK7M2XD", isWrong: false)
        try Self.ask(codes, "AAAAAAX", isWrong: true)
        #expect(Self.allowed(codes.begin("QK7M2XD", of: Self.person)) == nil)
    }

    @Test("at most five different codes of an address are looked up at one time")
    func manyAtOnceGainNothing() {
        let codes = CodeGuard(exempt: [], clock: SetClock(), capacity: 1024)
        #expect((0..<1000).count { Self.allowed(codes.begin("GUESS\($0)", of: Self.person)) != nil } == 5)
    }

    @Test("one code asked many times at once is one code, and one wrong code")
    func oneCodeAtOnce() throws {
        let codes = CodeGuard(exempt: [], clock: SetClock(), capacity: 1024)
        let attempts = try (0..<100).map { index in
            try #require(Self.allowed(codes.begin(index.isMultiple(of: 2) ? "QK7M2XD" : "qk7-m2xd", of: Self.person)))
        }
        for attempt in attempts { codes.end(attempt, isWrong: true) }
        for guess in 0..<4 { try Self.ask(codes, "AAAAAA\(guess)", isWrong: true) }
        #expect(Self.allowed(codes.begin("BBBBBBB", of: Self.person)) == nil, "five in all")
    }

    @Test("dashboard #52: of 1,000 guesses of an address, one a second, ten are looked up; not even the right code is confirmed in a pause")
    func guessing() async throws {
        let clock = SetClock()
        let gateway = Self.knowing("QK7M2XD", clock: clock)
        let others = Self.headers.with(.forwardedFor, "203.0.113.10")
        try await gateway.exchange(over: .live) { client async throws -> Void in
            func status(_ uri: String, _ headers: HTTPFields = Self.headers) async throws -> Int {
                try await client.execute(uri: uri, method: .get, headers: headers) { $0.status.code }
            }
            var lookedUp: [Int] = []
            for second in 1...1000 {
                clock.advance(by: .seconds(1))
                let told = try await status("/activate/providers?code=AAA\(second + 1000)")
                try #require(told == 400 || told == 429)
                if told == 400 { lookedUp.append(second) }
            }
            // Five are free, then one after each pause: of 30 s, and each twice as long as the one before.
            #expect(lookedUp == [1, 2, 3, 4, 5, 35, 95, 215, 455, 935])
            #expect(gateway.authentication.getRegistrationCode.requests.count == lookedUp.count)

            let right = try await client.execute(uri: "/activate/providers?code=qk7-m2xd", method: .get, headers: Self.headers) { Reply($0) }
            #expect(right.status == 429 && right.headers[.retryAfter] == "895" && right.isHTML)
            #expect(right.text.contains("Too many attempts, wait a moment") && right.text.contains(#"value="QK7M2XD""#), "the field stays filled")
            #expect(right.text.contains("<span id='countdown'>895</span>") && !right.text.contains("Acme One"))
            #expect(right.headers[.contentSecurityPolicy]?.contains("script-src 'self'") == true)
            #expect(gateway.authentication.getRegistrationCode.requests.count == lookedUp.count, "nobody is asked for the right one")
            #expect(try await status("/activate/providers?code=QK7M2XD", others) == 200, "people elsewhere are not disturbed")

            clock.advance(by: .seconds(895))
            #expect(try await status("/activate/providers?code=QK7M2XD") == 200, "the pause is over")
        }
    }

    @Test("in an address' pause a television with the right code is refused as well, and is served after it; its polls neither begin nor prolong one")
    func pollsInAPause() async throws {
        let clock = SetClock()
        let gateway = Self.knowing("QK7M2XD", clock: clock)
        let poll = "/api/v1/checkauthn/QK7M2XD?requestor=ACME1"
        try await gateway.exchange(over: .live) { client async throws -> Void in
            func reply(_ uri: String) async throws -> Reply {
                try await client.execute(uri: uri, method: .get, headers: Self.headers.with(.authorization, "Bearer good")) { Reply($0) }
            }
            for _ in 0..<20 { #expect(try await reply(poll).status == 200) }
            for guess in 0..<5 {
                #expect(try await reply("/activate/providers?code=AAAAAA\(guess)").status == 400)
                #expect(try await reply(poll).status == (guess < 4 ? 200 : 429), "after \(guess + 1) wrong codes")
            }
            let asked = gateway.authentication.getSessionByCode.requests.count + gateway.authentication.getOwnSessionByCode.requests.count
            for _ in 0..<20 {
                clock.advance(by: .seconds(1))
                #expect(try await reply(poll).status == 429)
            }
            #expect(try await reply(poll).headers[.retryAfter] == "10")
            #expect(
                gateway.authentication.getSessionByCode.requests.count + gateway.authentication.getOwnSessionByCode.requests.count == asked,
                "the service is not asked in a pause")
            clock.advance(by: .seconds(10))
            #expect(try await reply(poll).status == 200)
        }
    }

    /// A gateway before an authentication that knows one code.
    private static func knowing(_ known: String, clock: SetClock) -> TestGateway {
        let gateway = TestGateway(trusted: ["127.0.0.1"], throttle: ThrottleSettings(perSecond: 1000, burst: 1000), clock: clock)
        gateway.authentication.getRegistrationCode.answer { request, _ in
            if request.code == known { return TestGateway.code(call: nil) }
            throw Fault(.invalidRegistrationCode, "x")
        }
        return gateway
    }

    /// A request for each route that takes a code, with that code: by the method that looks it up.
    private static func request(_ route: Route, code: String) -> (HTTPRequest.Method, String) {
        request(route, by: route.handlers[.get] == nil ? .post : .get, code: code)
    }

    private static func request(_ route: Route, by method: HTTPRequest.Method, code: String) -> (HTTPRequest.Method, String) {
        let device = "requestor=ACME1&requestor_id=ACME1&resource=ACME1-NEWS&mvpd=NorthCable&mso_id=NorthCable&domain_name=acme.example"
        let path = route.path.replacing("{requestor}", with: "ACME1").replacing("{serviceProvider}", with: "ACME1").replacing("{code}", with: code)
        let query = "\(device)&redirect_url=https%3A%2F%2Facme.example%2F&code=\(code)&reg_code=\(code)"
        return (method, "\(path)?\(query)")
    }

    @Test("clients #100: the calls of v2 that take a code stand in one account: 2.3, 2.4, 2.5 and 2.8")
    func secondApi() async throws {
        let gateway = Self.doubting(.invalidRegistrationCode)
        let routes = try gateway.routes().filter { $0.code != .nowhere && $0.path.hasPrefix("/api/v2/") }
        let calls = routes.flatMap { route in
            [HTTPRequest.Method.get, .post].filter { route.handlers[$0] != nil }.map { (route, $0) }
        }
        #expect(calls.count == 4)
        try await gateway.exchange(over: .live) { client in
            for attempt in 0..<8 {
                let (route, method) = calls[attempt % 4]
                let (_, uri) = Self.request(route, by: method, code: "ZZZZZ\(attempt)Z")
                try await client.execute(uri: uri, method: method, headers: Self.headers(route)) { response in
                    #expect((response.status == .tooManyRequests) == (attempt >= 5), "\(method) \(route.path) \(attempt): \(response.status)")
                }
            }
        }
    }

    @Test("clients #60, dashboard #52: every route that takes a code charges exactly codes that are not known, to one account")
    func everyRouteIsGuarded() async throws {
        let plain = TestGateway()
        let routes = try plain.routes().filter { $0.code != .nowhere }
        let taking = try plain.routes().filter { route in
            route.path.contains("{code}") || route.path.hasPrefix("/activate/") || route.path == "/api/v1/authenticate"
                || route.path.hasSuffix("/authenticate/saml") || route.path.hasSuffix("/session") || route.path.hasSuffix("/sessionDevice")
        }
        #expect(routes.map(\.path).sorted() == taking.map(\.path).sorted() && routes.count >= 7)
        // The steps after the confirmation page look up nothing that this page has not looked up already.
        for route in routes where route.path != SignInEndpoints.confirmedPath {
            let gateway = Self.doubting(.invalidRegistrationCode)
            try await gateway.exchange(over: .live) { client in
                for attempt in 0..<6 {
                    let (method, uri) = Self.request(route, code: "ZZZZZ\(attempt)Z")
                    let headers = Self.headers(route)
                    try await client.execute(uri: uri, method: method, headers: headers) { response in
                        #expect((response.status == .tooManyRequests) == (attempt == 5), "\(route.path) \(attempt): \(response.status)")
                        guard attempt == 5 else { return }
                        #expect(response.headers[.retryAfter] == "30")
                        let body = String(buffer: response.body)
                        if case .browser = route.audience {
                            #expect(body.contains("Too many attempts"))
                        } else {
                            #expect(body == "429 Too Many Requests")
                        }
                    }
                }
            }
        }
    }

    @Test("a code that is spent is told as one that is not known, and costs nothing")
    func spentCodes() async throws {
        for route in try TestGateway().routes() where route.code != .nowhere && route.path != SignInEndpoints.confirmedPath {
            let (unknown, spent) = (Self.doubting(.invalidRegistrationCode), Self.doubting(.registrationCodeSpent))
            let (method, uri) = Self.request(route, code: "QK7M2XD")
            let headers = Self.headers(route)
            let told = try await unknown.exchange(over: .live) { client in
                try await client.execute(uri: uri, method: method, headers: headers) { Reply($0) }
            }
            try await spent.exchange(over: .live) { client in
                for attempt in 0..<20 {
                    let reply = try await client.execute(uri: uri, method: method, headers: headers) { Reply($0) }
                    #expect(reply.status == told.status && Self.untraced(reply.text) == Self.untraced(told.text), "\(route.path) \(attempt)")
                }
            }
        }
    }

    /// With a bearer where the route has no answer for others.
    private static func headers(_ route: Route) -> HTTPFields {
        let needsBearer =
            ["/api/v1/authenticate/{code}", "/api/v2/{serviceProvider}"].contains { route.path.hasPrefix($0) } || route.path.contains("/session")
        return needsBearer ? headers.with(.authorization, "Bearer good") : headers
    }

    /// Without the id of the trace, which is new each time.
    private static func untraced(_ text: String) -> String { text.replacing(/"trace":"[^"]*"|[0-9a-f]{32}/, with: "") }

    /// A gateway before services that say this of each code.
    private static func doubting(_ code: Fault.Code) -> TestGateway {
        let gateway = TestGateway(trusted: ["127.0.0.1"], throttle: ThrottleSettings(perSecond: 1000, burst: 1000), clock: SetClock())
        let fault = Fault(code, "The registration code is not known or has expired.")
        gateway.authentication.getRegistrationCode.fail(with: fault)
        gateway.authentication.deleteRegistrationCode.fail(with: fault)
        gateway.authentication.getSessionByCode.fail(with: fault)
        gateway.authentication.getOwnSessionByCode.fail(with: fault)
        gateway.authentication.issueStoredToken.fail(with: fault)
        gateway.authentication.startSignIn.fail(with: fault)
        gateway.authentication.continueSignIn.fail(with: fault)
        gateway.authentication.findProfilesByCode.fail(with: fault)
        gateway.authorization.preauthorizeByCode.fail(with: fault)
        return gateway
    }

    private static func ask(_ codes: CodeGuard, _ code: String, isWrong: Bool) throws {
        codes.end(try #require(allowed(codes.begin(code, of: person))), isWrong: isWrong)
    }

    @Test func failuresThatSayNothingOfTheCodeCostNothing() async throws {
        let gateway = TestGateway(trusted: ["127.0.0.1"], throttle: ThrottleSettings(perSecond: 1000, burst: 1000))
        gateway.authentication.getSessionByCode.fail(with: Fault(.authenticationSessionMissing, "not yet"))
        gateway.authentication.getRegistrationCode.fail(with: Fault(.unavailable, "away"))
        try await gateway.exchange(over: .live) { client in
            for uri in ["/api/v1/checkauthn/QK7M2XD?requestor=ACME1", "/activate/providers?code=QK7M2XD"] {
                for _ in 0..<20 {
                    let status = try await client.execute(uri: uri, method: .get, headers: Self.headers) { $0.status.code }
                    #expect([403, 503].contains(status))
                }
            }
        }
    }

    private static func allowed(_ verdict: CodeGuard.Verdict) -> CodeGuard.Attempt? {
        guard case .allowed(let attempt) = verdict else { return nil }
        return attempt
    }
}
