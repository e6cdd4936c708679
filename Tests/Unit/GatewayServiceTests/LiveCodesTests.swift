internal import Clocks
internal import Contracts
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// How many codes that have not ended an address may have.
@Suite struct LiveCodesTests {
    @Test("one more is 429 with Retry-After, another address is served, and nothing was asked of the service")
    func limits() async throws {
        let throttle = ThrottleSettings(perSecond: 1_000_000, burst: 1_000_000, codes: 3)
        let gateway = TestGateway(trusted: ["127.0.0.1"], throttle: throttle)
        try await gateway.exchange(over: .live) { client in
            func create(_ address: String) async throws -> Reply {
                var headers = TestGateway.device
                headers[.xForwardedFor] = address
                headers[.contentType] = "application/x-www-form-urlencoded"
                return try await client.execute(
                    uri: "/reggie/v1/ACME1/regcode", method: .post, headers: headers, body: ByteBuffer(string: "deviceId=dev-7f3a")
                ) { Reply($0) }
            }
            for _ in 0..<3 { #expect(try await create("203.0.113.9").status == 201) }
            let refused = try await create("203.0.113.9")
            #expect(refused.status == 429)
            #expect(refused.headers[.retryAfter] == "60")
            #expect(try await create("203.0.113.10").status == 201)
            #expect(gateway.authentication.createRegistrationCode.requests.count == 4)
        }
    }

    @Test("a code that takes another's place takes its place in the count, too")
    func replacements() async throws {
        let throttle = ThrottleSettings(perSecond: 1_000_000, burst: 1_000_000, codes: 3)
        let gateway = TestGateway(trusted: ["127.0.0.1"], throttle: throttle, clock: SetClock())
        @Sendable func plan(replacing former: UInt64) -> SignInPlan {
            let code = RegistrationCode(code: "QK7M2XD", expiresAtMilliseconds: 1_930_386_600_000)
            return SignInPlan(step: .authenticate, id: "id-1", code: code, replacedExpiresAtMilliseconds: former)
        }
        try await gateway.exchange(over: .live) { client in
            func create() async throws -> Int {
                let headers = TestGateway.device.with(.apDeviceIdentifier, "fingerprint ZGV2LTdmM2E=").with(.forwardedFor, "203.0.113.9")
                return try await client.execute(uri: "/api/v2/ACME1/sessions", method: .post, headers: headers) { $0.status.code }
            }
            gateway.authentication.beginSignIn.answer(with: plan(replacing: 0))
            #expect(try await create() == 200)
            gateway.authentication.beginSignIn.answer(with: plan(replacing: 1_930_386_599_000))
            for _ in 0..<20 { #expect(try await create() == 200) }
            gateway.authentication.beginSignIn.answer(with: plan(replacing: 0))
            let last = [try await create(), try await create(), try await create()]
            #expect(last == [200, 200, 429])
        }
    }

    @Test func settingsAreChecked() throws {
        #expect(ThrottleSettings(codes: 0).problem?.key == "codes")
        let settings = try JSONDecoder().decode(ThrottleSettings.self, from: Data(#"{"perSecond":2,"burst":3}"#.utf8))
        #expect(settings.codes == 1000)
    }
}

@Suite struct ExpiryCountsTests {
    @Test func countsUntilTheHourOfTheEnd() {
        var counts = ExpiryCounts()
        let start: Int64 = 1_000_000
        func adds(_ end: Int64, at now: Int64) -> Bool { counts.add(endingAt: start + end, limit: 3, now: start + now) }
        let three = (0..<3).map { _ in adds(1800, at: 0) }
        #expect(three == [true, true, true])
        let early = adds(1800, at: 1799)
        let late = adds(9000, at: 1800 + 3600)
        #expect(!early && late)
        counts.remove(endingAt: start + 9000, now: start + 1800 + 3600)
        let long = (0..<4).map { _ in adds(50_000, at: 6000) }
        #expect(long == [true, true, true, false])
        let stillThere = adds(50_000, at: 6000 + 36_000)
        let over = adds(100_000, at: 6000 + 12 * 3600)
        #expect(!stillThere && over)
    }

    @Test func whatIsOverIsNotTakenBack() {
        var counts = ExpiryCounts()
        _ = counts.add(endingAt: 100, limit: 2, now: 0)
        _ = counts.add(endingAt: 8000, limit: 2, now: 7300)
        counts.remove(endingAt: 100, now: 7300)
        let second = counts.add(endingAt: 8000, limit: 2, now: 7300)
        let third = counts.add(endingAt: 8000, limit: 2, now: 7300)
        #expect(second && !third)
    }

    @Test func endsWhenItSaysNoMore() {
        var counts = ExpiryCounts()
        #expect(counts.end == 0)
        _ = counts.add(endingAt: 7300, limit: 1, now: 100)
        #expect(counts.end == 10_800)
        #expect(counts.expires == 10_800_000_000_000)
    }
}
