@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams
import Clocks
import Faults
import Testing

/// How many codes a client and a device may have.
@Suite struct CodeLimitTests {
    private static let now = Timestamp(seconds: 1_930_384_800)

    private func enter(
        _ limits: CodeLimits, client: String = "c", device: String? = "d", life: Int64 = 1800, at now: Timestamp = now
    ) throws(Fault) {
        let key = device.map { SessionKey(device: DeviceID($0), requestor: RequestorID("ACME1")) }
        try limits.enter(client: ClientID(client), device: key, endingAt: now + .seconds(life), now: now)
    }

    @Test("one code more than a device may have is refused, another device's is not, and room comes back within an hour of their end")
    func perDevice() throws {
        let limits = CodeLimits(perClient: 1000, perDevice: 5)
        for _ in 0..<5 { try enter(limits) }
        let fault = #expect(throws: Fault.self) { try enter(limits) }
        #expect(fault?.code == .tooManyRequests && fault?.retryAfter != nil)
        try enter(limits, device: "other")
        try enter(limits, at: Self.now + .seconds(1800 + 3600))
    }

    @Test("a client is limited over all of its devices, and what a device is refused does not count for it")
    func perClient() throws {
        let limits = CodeLimits(perClient: 12, perDevice: 5)
        for _ in 0..<5 { try enter(limits, device: "d") }
        for _ in 0..<20 { #expect(throws: Fault.self) { try enter(limits, device: "d") } }
        for number in 0..<7 { try enter(limits, device: "e\(number)") }
        #expect(throws: Fault.self) { try enter(limits, device: "f") }
        #expect(throws: Fault.self) { try enter(limits, device: nil) }
        try enter(limits, client: "other", device: "f")
    }

    @Test("a plan that a newer one of the client's device ends is not counted any more; other clients and devices have their own")
    func replacedPlans() throws {
        let limits = CodeLimits(perClient: 6, perDevice: 5)
        func plan(_ client: String = "c", device: String = "d", at seconds: Int64 = 0) throws(Fault) {
            let (now, key) = (Self.now + .seconds(seconds), SessionKey(device: DeviceID(device), requestor: RequestorID("ACME1")))
            try limits.enter(
                client: ClientID(client), device: key, plan: .init(client: ClientID(client), key: key), endingAt: now + .seconds(1800), now: now)
        }
        for second in 0..<Int64(300) { try plan(at: second * 10) }
        for number in 0..<4 { try enter(limits, client: "v1-\(number)", at: Self.now + .seconds(3000)) }
        for second in 0..<Int64(300) { try plan(at: 3000 + second) }
        #expect(throws: Fault.self, "five of the device: four that nothing has ended, and the plan") {
            try enter(limits, client: "v1", at: Self.now + .seconds(3300))
        }
        #expect(throws: Fault.self) { try plan("other", at: 3300) }
        for number in 0..<5 { try plan(device: "e\(number)", at: 3300) }
        #expect(throws: Fault.self, "six of the client") { try plan(device: "f", at: 3300) }
        try plan(device: "e0", at: 3300)
    }

    @Test("a plan that has ended by itself takes nothing from what is counted")
    func endedPlans() throws {
        let limits = CodeLimits(perClient: 1000, perDevice: 3)
        let key = SessionKey(device: DeviceID("d"), requestor: RequestorID("ACME1"))
        func plan(at seconds: Int64) throws(Fault) {
            let now = Self.now + .seconds(seconds)
            try limits.enter(client: nil, device: key, plan: .init(client: ClientID("c"), key: key), endingAt: now + .seconds(60), now: now)
        }
        try plan(at: 0)
        for _ in 0..<2 { try enter(limits, life: 36_000, at: Self.now + .seconds(7200)) }
        try plan(at: 7200)
        #expect(throws: Fault.self) { try enter(limits, at: Self.now + .seconds(7200)) }
    }

    @Test("the longest life counts to its end")
    func longLives() throws {
        let limits = CodeLimits(perClient: 1000, perDevice: 1)
        try enter(limits, life: 36_000)
        #expect(throws: Fault.self) { try enter(limits, at: Self.now + .seconds(35_999)) }
        try enter(limits, at: Self.now + .seconds(36_000 + 3600))
    }

    @Test("of the numbers that hold unless set, exactly 100 codes of a device and 100,000 of a client are given, and another client has its own")
    func numbersThatHold() throws {
        let limits = CodeLimits(perClient: 100_000, perDevice: 100)
        for _ in 0..<100 { try enter(limits, device: "d") }
        let device = #expect(throws: Fault.self) { try enter(limits, device: "d") }
        #expect(device?.code == .tooManyRequests && device?.message.contains("This device has 100 ") == true, "\(String(describing: device))")
        for number in 0..<99_900 { try enter(limits, device: "e\(number)") }
        let client = #expect(throws: Fault.self) { try enter(limits, device: "f") }
        #expect(client?.code == .tooManyRequests && client?.message.contains("This client has 100000 ") == true, "\(String(describing: client))")
        try enter(limits, client: "other", device: "f")
        try enter(limits, device: "f", at: Self.now + .seconds(1800 + 3600))
    }

    @Test("devices that have no id of their own share none")
    func placeholders() throws {
        let limits = CodeLimits(perClient: 1000, perDevice: 1)
        for _ in 0..<50 { try enter(limits, device: nil) }
    }
}
