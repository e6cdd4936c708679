import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// An upstream's lists of MVPDs, and how old they may be (bridge §6).
@Suite struct UpstreamListTests {
    private static let path = "/api/v2/CHAN7/configuration"
    private static let roku = DeviceInformation(model: "Model 7", osName: "Roku OS")
    private static let appleTV = DeviceInformation(type: "SetTopBox", model: "AppleTV6,2", osName: "tvOS")

    private func list(
        _ bridge: BridgeRig, _ device: DeviceInformation = UpstreamListTests.roku, by service: AuthenticationClient? = nil
    ) async throws -> BridgedProviders {
        try await (service ?? bridge.rig.service).listBridgedProviders(
            ListBridgedProvidersRequest(requestor: "CHAN7", device: device), context: bridge.rig.context)
    }

    @Test("bridge B27: a hundred questions of one class in a minute are one call; another class is another list")
    func sharesLists() async throws {
        let bridge = try BridgeRig()
        for _ in 0..<100 {
            #expect(try await list(bridge).providers.map(\.id) == ["CoastCable", "HillTel"])
            bridge.rig.clock.advance(by: .milliseconds(600))
        }
        #expect(bridge.upstream.count(Self.path) == 1)
        _ = try await list(bridge, Self.appleTV)
        #expect(bridge.upstream.count(Self.path) == 2)
    }

    @Test("bridge B28: a list that is older than 120 s is told while one call reads it anew")
    func rereads() async throws {
        let bridge = try BridgeRig()
        _ = try await list(bridge)
        bridge.upstream.change { $0.listed = ["NewTel"] }
        bridge.rig.clock.advance(by: .seconds(120))
        for _ in 0..<20 { _ = try await list(bridge) }
        try await bridge.called(Self.path, times: 2)
        for _ in 0..<1000 where try await list(bridge).providers.map(\.id) != ["NewTel"] { try await Task.sleep(for: .milliseconds(2)) }
        #expect(try await list(bridge).providers.map(\.id) == ["NewTel"])
        #expect(bridge.upstream.count(Self.path) == 2)
    }

    @Test("bridge B28: with upstream away a list serves for 7 days, after a restart too; then, or where there is none, it is 503")
    func outlivesOutages() async throws {
        let bridge = try BridgeRig()
        let listed = try await list(bridge)
        bridge.upstream.change { $0.isAway = true }
        bridge.rig.clock.advance(by: .seconds(3600))
        #expect(try await list(bridge) == listed)
        #expect(try await list(bridge, by: bridge.rig.copy()) == listed)
        let none = await #expect(throws: Fault.self) { _ = try await list(bridge, Self.appleTV) }
        #expect(none?.code == .upstreamUnavailable && (none?.retryAfter ?? .zero) >= .seconds(5))
        bridge.rig.clock.advance(by: .seconds(604_800 - 3601))
        #expect(try await list(bridge) == listed)
        #expect(try await list(bridge, by: bridge.rig.copy()) == listed)
        bridge.rig.clock.advance(by: .seconds(1))
        for service in [nil, bridge.rig.copy()] {
            let stale = await #expect(throws: Fault.self) { _ = try await list(bridge, by: service) }
            #expect(stale?.code == .upstreamUnavailable)
        }
    }

    @Test("bridge §6: a list that cannot be read for 15 minutes is an alarm, once in an hour")
    func alarms() async throws {
        let bridge = try BridgeRig()
        func alarms() -> Int { bridge.rig.log.lines.count { $0.event == "bridge.list_stale" } }
        _ = try await list(bridge)
        bridge.upstream.change { $0.isAway = true }
        for minute in 1...80 {
            bridge.rig.clock.advance(by: .seconds(60))
            let before = bridge.upstream.calls.count
            _ = try await list(bridge)
            // The read is nobody's to wait for; a breaker may have kept it from upstream.
            for _ in 0..<50 where bridge.upstream.calls.count == before { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .milliseconds(2))
            if minute == 16 { #expect(alarms() == 0) }
            if minute == 20 { #expect(alarms() == 1) }
        }
        #expect(alarms() == 2)
        let alarm = try #require(bridge.rig.log.lines.first { $0.event == "bridge.list_stale" })
        #expect(alarm.level == .error && alarm.fields["upstream"] == "vendor" && alarm.fields["details"]?.contains("CHAN7") == true)
    }
}
