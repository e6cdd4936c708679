import Contracts
import Faults
import Identifiers
import Synchronization
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct RegistrationCodeTests {
    @Test("rest-v1 #29, #31: without a ttl a code lives for 1800 s", arguments: Backend.allCases)
    func livesHalfAnHour(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let code = try await rig.code(rig.call(rig.bearer()), mvpd: "DemoCable")
        #expect(code.expiresAtMilliseconds - code.generatedAtMilliseconds == 1_800_000)
        #expect(code.generatedAtMilliseconds == UInt64(t0.milliseconds))
        #expect(code.requestor == "CHAN7" && code.mvpd == "DemoCable")
        #expect(code.applicationID == "tv" && code.applicationName == "App tv" && code.applicationVersion == "1.2")
        #expect(code.deviceID == "dev-7f3a" && code.device == Sample.toldDevice && code.userAgent == "Player/1")
        #expect(!code.used)
    }

    @Test("rest-v1 #30: the longest ttl is 36000 s")
    func boundsLifetime() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        let code = try await rig.code(call, ttl: 36_000)
        #expect(code.expiresAtMilliseconds - code.generatedAtMilliseconds == 36_000_000)
        await expectFault(.invalidRequest) { _ = try await rig.code(call, ttl: 36_001) }
    }

    @Test("rest-v1 §3.4: seven characters that cannot be confused")
    func usesClearAlphabet() {
        var seen: Set<Character> = []
        for _ in 0..<500 {
            let text = RegistrationCodeText.random(from: SystemRandom()).text
            #expect(text.count == 7)
            seen.formUnion(text)
        }
        #expect(seen == Set("ABCDEFGHJKMNPQRSTUVWXYZ23456789"))
    }

    @Test("A code that is taken is drawn again")
    func drawsAgain() async throws {
        let rig = try Rig()
        let source = CountingRandom(repeats: 3)
        let codes = RegistrationCodes(
            bearers: rig.modules.clients.bearers, catalogue: rig.catalogue, store: rig.store, clock: rig.clock, random: source,
            userIDs: rig.modules.sessions.codes.userIDs, metrics: AuthenticationMetrics(), offers: [])
        let call = try await rig.call(rig.bearer())
        let first = try await codes.create(CreateRegistrationCodeRequest(call: call))
        let second = try await codes.create(CreateRegistrationCodeRequest(call: call))
        #expect(first.code == "AAAAAAA" && second.code == "BBBBBBB")
    }

    @Test("rest-v1 #33: two codes of one device are both live")
    func createsBoth() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        let first = try await rig.code(call)
        let second = try await rig.code(call)
        #expect(first.code != second.code && first.id != second.id)
        #expect(try await show(rig, first.code).id == first.id)
        #expect(try await show(rig, second.code).id == second.id)
    }

    @Test("rest-v1 #34: the record is found again, in lower case too; without a bearer it hides the device", arguments: Backend.allCases)
    func shows(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        let code = try await rig.code(rig.call(bearer))
        #expect(try await show(rig, code.code, bearer: bearer) == code)
        #expect(try await show(rig, code.code.lowercased(), bearer: bearer) == code)
        let seenByStranger = try await show(rig, code.code)
        #expect(seenByStranger.deviceID.isEmpty && seenByStranger.device == nil)
        #expect(seenByStranger.id == code.id && seenByStranger.expiresAtMilliseconds == code.expiresAtMilliseconds)
        await expectFault(.accessDenied) { _ = try await show(rig, code.code, bearer: "broken") }
    }

    @Test("rest-v1 #35: after expiry, and of another requestor, a code is not found")
    func hidesForeignAndExpired() async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer()))
        await expectFault(.invalidRegistrationCode) { _ = try await show(rig, code.code, requestor: "CHAN8") }
        await expectFault(.invalidRequestor) { _ = try await show(rig, code.code, requestor: "NOBODY") }
        rig.clock.advance(by: .seconds(1800))
        await expectFault(.invalidRegistrationCode) { _ = try await show(rig, code.code) }
    }

    @Test("The activation page finds a code of any requestor, without its device")
    func showsToActivationPage() async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer(), requestor: "CHAN8"))
        let record = try await show(rig, code.code, requestor: "")
        #expect(record.requestor == "CHAN8" && record.deviceID.isEmpty)
    }

    @Test("rest-v1 #36: a deleted code is gone", arguments: Backend.allCases)
    func deletes(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        let code = try await rig.code(rig.call(bearer))
        let request = RegistrationCodeRequest(accessToken: bearer, requestor: "CHAN7", code: code.code)
        await expectFault(.accessDenied) { try await delete(rig, RegistrationCodeRequest(requestor: "CHAN7", code: code.code)) }
        await expectFault(.invalidRegistrationCode) {
            try await delete(rig, RegistrationCodeRequest(accessToken: bearer, requestor: "CHAN8", code: code.code))
        }
        try await delete(rig, request)
        await expectFault(.invalidRegistrationCode) { _ = try await show(rig, code.code) }
        await expectFault(.registrationCodeSpent) { try await delete(rig, request) }
    }

    @Test("rest-v1 #37: a device without an id gets one")
    func givesDeviceID() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        let first = try await rig.code(rig.call(bearer, device: "dummy"))
        await expectFault(.registrationCodeSpent) { _ = try await rig.start(first.code) }
        let second = try await rig.code(rig.call(bearer, device: first.id))
        #expect(second.deviceID == first.id)
        #expect(try await !rig.start(second.code).start.url.isEmpty)
        await expectFault(.invalidDeviceID) { _ = try await rig.session(rig.call(bearer, device: "dummy")) }
        await expectFault(.invalidDeviceID) { _ = try await rig.logout(rig.call(bearer, device: "dummy")) }
    }

    @Test("rest-v1 §3.4: an MVPD that is not integrated", arguments: ["ParkedTV", "Nobody"])
    func refusesForeignMvpd(_ mvpd: String) async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        await expectFault(.unknownIntegration) { _ = try await rig.code(call, mvpd: mvpd) }
    }

    @Test("rest-v1 §3.4: the login page is the sent one, else the requestor's, else empty")
    func namesLoginPage() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        let sent = CreateRegistrationCodeRequest(call: rig.call(bearer), registrationURL: "https://my.tv/go")
        #expect(try await rig.service.createRegistrationCode(sent, context: rig.context).registrationURL == "https://my.tv/go")
        #expect(try await rig.code(rig.call(bearer)).registrationURL == "https://tv.chan7.example/code")
        #expect(try await rig.code(rig.call(bearer, requestor: "CHAN8")).registrationURL == "")
    }

    @Test("rest-v1 §2.8: bearer, requestor, device id, device information: the first problem counts")
    func checksInOrder() async throws {
        let rig = try Rig()
        var call = DeviceCall(requestor: "NOBODY")
        await expectFault(.accessDenied) { _ = try await rig.code(call, mvpd: "Nobody", ttl: 99_999) }
        call.accessToken = try await rig.bearer()
        await expectFault(.invalidRequestor) { _ = try await rig.code(call, mvpd: "Nobody", ttl: 99_999) }
        call.requestor = ""
        await expectFault(.invalidRequestor) { _ = try await rig.code(call, mvpd: "Nobody", ttl: 99_999) }
        call.requestor = "FOREIGN"
        await expectFault(.insufficientScope) { _ = try await rig.code(call, mvpd: "Nobody", ttl: 99_999) }
        call.requestor = "CHAN7"
        await expectFault(.invalidDeviceID) { _ = try await rig.code(call, mvpd: "Nobody", ttl: 99_999) }
        call.deviceID = "dev"
        await expectFault(.invalidRequest) { _ = try await rig.code(call, mvpd: "Nobody", ttl: 99_999) }
        await expectFault(.unknownIntegration) { _ = try await rig.code(call, mvpd: "Nobody") }
    }

    @Test("rest-v1 §2.5: a device id is 1 to 512 printable characters, and case counts")
    func checksDeviceID() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        // No text on the wire holds U+0000.
        await expectFault(.invalidMessage) { _ = try await rig.code(rig.call(bearer, device: "a\u{0}b")) }
        for id in ["", String(repeating: "x", count: 513), "a\u{1}b", "line\nbreak", "\u{200B}", "\u{7f}"] {
            await expectFault(.invalidDeviceID) { _ = try await rig.code(rig.call(bearer, device: id)) }
        }
        for id in ["x", String(repeating: "é", count: 512), "with space", "漢字"] {
            #expect(try await rig.code(rig.call(bearer, device: id)).deviceID == id)
        }
    }

    @Test("what a device says of itself has up to 512 octets each, and a longer text is named", arguments: ["deviceType", "deviceUser", "appId"])
    func boundsTexts(name: String) async throws {
        let rig = try Rig()
        let plain = try await rig.call(rig.bearer())
        func saying(_ octets: Int) -> DeviceCall {
            let text = String(repeating: "é", count: octets / 2) + (octets % 2 == 0 ? "" : "x")
            var call = plain
            switch name {
            case "deviceType": call.deviceType = text
            case "deviceUser": call.deviceUser = text
            default: call.appID = text
            }
            return call
        }
        _ = try await rig.code(saying(512))
        await expectFault(.invalidRequest) { _ = try await rig.code(saying(513)) }
    }

    private func show(_ rig: Rig, _ code: String, requestor: String = "CHAN7", bearer: String = "") async throws -> RegistrationCode {
        let request = RegistrationCodeRequest(accessToken: bearer, requestor: requestor, code: code)
        return try await rig.service.getRegistrationCode(request, context: rig.context)
    }

    private func delete(_ rig: Rig, _ request: RegistrationCodeRequest) async throws {
        _ = try await rig.service.deleteRegistrationCode(request, context: rig.context)
    }
}

/// Gives the same bytes some times, then the next ones.
private final class CountingRandom: RandomSource {
    private let repeats: Int
    private let calls = Mutex(0)

    init(repeats: Int) { self.repeats = repeats }

    func bytes(_ count: Int) -> [UInt8] {
        // Record ids are drawn with 16 bytes; only the codes repeat.
        guard count == RegistrationCodeText.length else { return SystemRandom().bytes(count) }
        let value = calls.withLock { calls in
            defer { calls += 1 }
            return calls / repeats
        }
        return [UInt8](repeating: UInt8(value), count: count)
    }
}
