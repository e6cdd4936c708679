internal import Clocks
internal import Contracts
internal import Faults
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

    @Test("where no code is made nothing counts: a call of either API that fails, and a way to a sign-in that needs none; nor do exempt addresses")
    func unmade() async throws {
        let throttle = ThrottleSettings(
            perSecond: 1_000_000, burst: 1_000_000, codes: 2, exempt: ["203.0.113.77"].compactMap(AddressRange.init))
        let gateway = TestGateway(trusted: ["127.0.0.1"], throttle: throttle, clock: SetClock())
        try await gateway.exchange(over: .live) { client in
            func create(_ path: String, _ address: String) async throws -> Int {
                let headers = TestGateway.device.with(.apDeviceIdentifier, "fingerprint ZGV2LTdmM2E=").with(.forwardedFor, address)
                return try await client.execute(uri: path, method: .post, headers: headers) { $0.status.code }
            }
            let (own, exempt) = ("203.0.113.9", "203.0.113.77")
            let (first, second) = ("/reggie/v1/ACME1/regcode?deviceId=dev-7f3a", "/api/v2/ACME1/sessions")
            gateway.authentication.createRegistrationCode.fail(with: Fault(.unavailable, "away"))
            gateway.authentication.beginSignIn.fail(with: Fault(.unavailable, "away"))
            for path in [first, second] { for _ in 0..<5 { #expect(try await create(path, own) == 503) } }
            gateway.authentication.beginSignIn.answer(with: SignInPlan(step: .authorize, reason: .shared, id: "id-1", mvpd: "NorthCable"))
            for _ in 0..<5 { #expect(try await create(second, own) == 200) }
            gateway.authentication.createRegistrationCode.answer(with: TestGateway.code(call: nil))
            var statuses: [Int] = []
            for path in [first, first, first, second] { statuses.append(try await create(path, own)) }
            #expect(statuses == [201, 201, 429, 429])
            for _ in 0..<5 { #expect(try await create(first, exempt) == 201) }
        }
    }

    @Test("a code counts as long as it lives: half an hour where the app does not say")
    func life() async throws {
        let clock = SetClock()
        let gateway = TestGateway(
            trusted: ["127.0.0.1"], throttle: ThrottleSettings(perSecond: 1_000_000, burst: 1_000_000, codes: 1), clock: clock)
        // Ends are counted by the hour.
        let steps = [(3000, "", 201), (2 * 3600 - 1, "&ttl=3600", 429), (2 * 3600, "&ttl=3600", 201), (4 * 3600 - 1, "", 429), (4 * 3600, "", 201)]
        try await gateway.exchange(over: .live) { client in
            for (seconds, more, status) in steps {
                clock.set(.seconds(seconds))
                let uri = "/reggie/v1/ACME1/regcode?deviceId=dev-7f3a\(more)"
                let headers = TestGateway.device.with(.forwardedFor, "203.0.113.9")
                let answer = try await client.execute(uri: uri, method: .post, headers: headers) { $0.status.code }
                #expect(answer == status, "after \(seconds) s")
            }
        }
    }
}
