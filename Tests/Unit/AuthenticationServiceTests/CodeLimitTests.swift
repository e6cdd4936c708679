@testable import AuthenticationService
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

    @Test("the longest life counts to its end")
    func longLives() throws {
        let limits = CodeLimits(perClient: 1000, perDevice: 1)
        try enter(limits, life: 36_000)
        #expect(throws: Fault.self) { try enter(limits, at: Self.now + .seconds(35_999)) }
        try enter(limits, at: Self.now + .seconds(36_000 + 3600))
    }

    @Test("devices that have no id of their own share none")
    func placeholders() throws {
        let limits = CodeLimits(perClient: 1000, perDevice: 1)
        for _ in 0..<50 { try enter(limits, device: nil) }
    }
}
