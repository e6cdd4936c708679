internal import Contracts
internal import Faults
@testable import GatewayService
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
        for _ in 0..<100 { codes.takeBack(try #require(Self.allowed(codes.begin(Self.person)))) }
        for _ in 0..<4 { #expect(Self.allowed(codes.begin(Self.person)) != nil) }
        codes.takeBack(try #require(Self.allowed(codes.begin(Self.person))))
        #expect(Self.allowed(codes.begin(Self.person)) != nil, "the fifth wrong one")
        #expect(Self.allowed(codes.begin(Self.person)) == nil)
    }

    @Test func manyAtOnceGainNothing() {
        let codes = CodeGuard(exempt: [], clock: SetClock(), capacity: 1024)
        #expect((0..<1000).count { _ in Self.allowed(codes.begin(Self.person)) != nil } == 5)
    }

    @Test("dashboard #52: of 1000 guesses within a day few are looked up, and the right one is not confirmed in a pause")
    func guessing() async throws {
        let clock = SetClock()
        let gateway = TestGateway(trusted: ["127.0.0.1"], clock: clock)
        gateway.authentication.getRegistrationCode.answer { request, _ in
            if request.code == "QK7M2XD" { return TestGateway.code(call: nil) }
            throw Fault(.invalidRegistrationCode, "x")
        }
        let (refused, last) = try await gateway.exchange(over: .live) { client in
            var refused = 0
            for guess in 0..<1000 {
                clock.advance(by: .seconds(86))
                let status = try await client.execute(uri: "/activate/providers?code=AAA\(guess + 1000)", method: .get, headers: Self.headers) {
                    $0.status.code
                }
                if status == 429 { refused += 1 } else { #expect(status == 400) }
            }
            let last = try await client.execute(uri: "/activate/providers?code=QK7M2XD", method: .get, headers: Self.headers) { Reply($0) }
            return (refused, last)
        }
        #expect(gateway.authentication.getRegistrationCode.requests.count == 1001 - refused)
        // One every 86 s never makes five a minute: people who err now and then are left alone.
        #expect(refused == 0 && last.status == 200)
        try await guessAtOnce(gateway)
    }

    /// The same guesses without patience.
    private func guessAtOnce(_ gateway: TestGateway) async throws {
        let before = gateway.authentication.getRegistrationCode.requests.count
        let last = try await gateway.exchange(over: .live) { client in
            for guess in 0..<1000 {
                _ = try await client.execute(uri: "/activate/providers?code=BBB\(guess + 1000)", method: .get, headers: Self.headers) { $0.status }
            }
            return try await client.execute(uri: "/activate/providers?code=qk7-m2xd", method: .get, headers: Self.headers) { Reply($0) }
        }
        #expect(gateway.authentication.getRegistrationCode.requests.count - before == 5)
        #expect(last.status == 429 && last.headers[.retryAfter] == "30" && last.isHTML)
        #expect(last.text.contains("Too many attempts, wait a moment") && last.text.contains(#"value="QK7M2XD""#), "the field stays filled")
        #expect(last.text.contains(#"<span id="countdown">30</span>"#) && !last.text.contains("Acme One"))
        #expect(last.headers[.contentSecurityPolicy]?.contains("script-src 'self'") == true)
    }

    @Test(
        "the endpoints that take a code count with the pages, and answer as the throttle does",
        arguments: [
            "/reggie/v1/ACME1/regcode/ZZZZZZZ", "/api/v1/checkauthn/ZZZZZZZ?requestor=ACME1",
            "/api/v1/authenticate?requestor_id=ACME1&mso_id=NorthCable&reg_code=ZZZZZZZ&domain_name=acme.example&redirect_url=https://acme.example/",
            "/activate/done?code=ZZZZZZZ&requestor=ACME1", "/activate/sign-in?code=ZZZZZZZ&mvpd=NorthCable",
        ])
    func oneAccount(uri: String) async throws {
        let gateway = TestGateway(trusted: ["127.0.0.1"], clock: SetClock())
        let wrong = Fault(.invalidRegistrationCode, "x")
        gateway.authentication.getRegistrationCode.fail(with: wrong)
        gateway.authentication.getSessionByCode.fail(with: wrong)
        gateway.authentication.startSignIn.fail(with: wrong)
        try await gateway.exchange(over: .live) { client in
            for attempt in 0..<6 {
                try await client.execute(uri: uri, method: .get, headers: Self.headers) { response in
                    #expect((response.status == .tooManyRequests) == (attempt == 5), "\(attempt): \(response.status)")
                    guard attempt == 5 else { return }
                    #expect(response.headers[.retryAfter] == "30")
                    if uri.hasPrefix("/api") { #expect(String(buffer: response.body) == "429 Too Many Requests") }
                }
            }
        }
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
