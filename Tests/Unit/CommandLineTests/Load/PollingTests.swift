import Foundation
import LoadTool
import Testing

@testable import WorkshopCommands

/// Load in front of an upstream, and what is said of televisions that poll.
@Suite struct PollingTests {
    private static func plan(_ rate: Double) -> RunPlan {
        RunPlan(
            plan: LoadPlan(stages: [LoadPlan.Stage(length: 60_000_000_000, level: rate)]), loop: .open(poisson: false), workers: 1, connections: 64,
            maxOutstanding: 1000, timeout: 10_000_000_000, iterationLimit: nil, seed: 1)
    }

    @Test func thereIsATelevisionForEachPollOfFiveSeconds() {
        #expect(GatewayScenario.polling.standardDevices(Self.plan(2000)) == 10_000)
        #expect(GatewayScenario.polling.standardDevices(Self.plan(1)) == 50)
        #expect(GatewayScenario.polling.standardDevices(Self.plan(1_000_000)) == 100_000)
        #expect(GatewayScenario.playback.standardDevices(Self.plan(100)) == DeviceCount.forMediaTokens(Self.plan(100)))
    }

    @Test func devicesHaveAddressesOfTheirOwn() {
        let addresses = Set((0..<100_000).map(GatewayPreparation.address))
        #expect(addresses.count == 100_000)
        #expect(addresses.allSatisfy { $0.split(separator: ".").compactMap { UInt8($0) }.count == 4 })
        let client = GatewayCalls.Client(accessToken: "t", host: "gateway:80", hardware: .appleTV).from("151.20.0.1")
        let request = String(decoding: GatewayCalls(host: "gateway:80", requestor: "ACME1").get("/api", client), as: UTF8.self)
        #expect(request.hasSuffix("\r\nX-Forwarded-For: 151.20.0.1\r\n\r\n") && request.contains("Authorization: Bearer t\r\n"))
    }

    // MARK: Judgement

    /// A sample a second for ten minutes.
    private static func points(_ bytes: (Double) -> Double) -> [Growth.Point] {
        (0..<600).map { Growth.Point(seconds: Double($0), value: bytes(Double($0))) }
    }

    @Test func memoryThatFillsUpAndThenStaysIsSteady() {
        let full = PollingWatch.memory(of: "gateway", Self.points { 40e6 + min($0, 300) * 100_000 })
        #expect(full.hasHeld && full.text.contains("gateway"), "\(full)")
        let noisy = PollingWatch.memory(of: "gateway", Self.points { 40e6 + ($0.truncatingRemainder(dividingBy: 2) == 0 ? 900_000 : 0) })
        #expect(noisy.hasHeld, "\(noisy)")
    }

    @Test func memoryThatMovesByMoreThanTwoMegabytesIsNot() {
        #expect(!PollingWatch.memory(of: "gateway", Self.points { 40e6 + $0 * 8000 }).hasHeld)
        #expect(!PollingWatch.memory(of: "gateway", Self.points { 40e6 - $0 * 8000 }).hasHeld, "it was not full before")
        #expect(PollingWatch.memory(of: "gateway", Self.points { 40e6 + $0 * 6000 }).hasHeld)
    }

    @Test func aShortRunSaysNothing() {
        let short = PollingWatch.memory(of: "gateway", Array(Self.points { _ in 40e6 }.prefix(10)))
        #expect(!short.hasHeld && short.measured.contains("too short"))
        #expect(!PollingWatch.memory(of: "gateway", []).hasHeld)
    }

    @Test func aCallUpstreamIsOneTooMany() {
        #expect(PollingWatch.calls(from: 12, to: 12).hasHeld)
        let one = PollingWatch.calls(from: 12, to: 13)
        #expect(!one.hasHeld && one.measured == "1 calls")
        #expect(!PollingWatch.calls(from: 12, to: 3).hasHeld && !PollingWatch.calls(from: nil, to: 0).hasHeld)
    }
}
