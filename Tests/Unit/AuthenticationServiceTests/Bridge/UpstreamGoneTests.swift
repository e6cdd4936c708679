import Clocks
import Contracts
import Faults
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Logins that an upstream has ended, as devices are told of them (bridge §8.1).
@Suite struct UpstreamGoneTests {
    private static let day: Duration = .seconds(86_400)

    /// Upstream has forgotten the login of a device, and this was seen here.
    private func ended(_ change: (inout RequestorBridge) -> Void = { _ in }) async throws -> (bridge: BridgeRig, call: DeviceCall) {
        let bridge = try BridgeRig(change)
        let call = try await bridge.viewer()
        try await bridge.signIn(call)
        bridge.upstream.change { $0.profiles = [:] }
        bridge.rig.clock.advance(by: .seconds(86_400))
        let later = try await bridge.viewer()
        await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.rig.session(later) }
        bridge.upstream.forget()
        return (bridge, later)
    }

    @Test("bridge §8.1, B53: a login that upstream ended is told as ended for a day, by every copy, and costs nothing; then there is none")
    func remembered() async throws {
        let (bridge, call) = try await ended()
        for _ in 0..<5 { await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.rig.session(call) } }
        let other = bridge.rig.copy()
        await expectFault(.authenticationSessionInvalidated) {
            _ = try await other.getSession(SessionRequest(call: call), context: bridge.rig.context)
        }
        let stranger = try await bridge.viewer("dev-2")
        await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(stranger) }
        bridge.rig.clock.advance(by: Self.day - .milliseconds(1))
        let late = try await bridge.viewer()
        await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.rig.session(late) }
        bridge.rig.clock.advance(by: .milliseconds(1))
        await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(late) }
        #expect(bridge.upstream.calls.isEmpty)
    }

    @Test("who signs out after that is nobody, and who signs in is somebody, whose own end is told")
    func endsWithActs() async throws {
        let (bridge, call) = try await ended()
        #expect(try await bridge.rig.logout(call) == 0)
        await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(call) }
        let (again, viewer) = try await ended()
        try await again.signIn(viewer)
        #expect(try await again.rig.session(viewer).mvpd == "CoastCable")
        #expect(try await again.rig.logout(viewer) == 1)
        await expectFault(.authenticationSessionMissing) { _ = try await again.rig.session(viewer) }
    }

    @Test("an integration that is switched off, or a requestor without upstreams, says nothing of it")
    func hidden() async throws {
        let (bridge, call) = try await ended()
        bridge.rig.catalogue.change { catalogue in
            for index in catalogue.integrations.indices where catalogue.integrations[index].mvpdID == "CoastCable" {
                catalogue.integrations[index].enabled = false
            }
        }
        await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(call) }
        let (other, viewer) = try await ended()
        other.rig.catalogue.change { $0.requestors[0].bridge = nil }
        await expectFault(.authenticationSessionMissing) { _ = try await other.rig.session(viewer) }
    }

    @Test("bridge §4.2, B15: what a client that is lost had signed in is told as ended; what had expired stays so")
    func lostClients() async throws {
        let bridge = try BridgeRig()
        let (call, early) = (try await bridge.viewer(), try await bridge.viewer("dev-early"))
        try await bridge.signIn(early, lasting: .seconds(60))
        try await bridge.signIn(call)
        let session = try await bridge.rig.session(call)
        bridge.rig.clock.advance(by: .seconds(61))
        bridge.upstream.change { script in
            script.answers["/decisions/authorize/CoastCable"] = ScriptedUpstream.answer(#"{"error":"invalid_client"}"#, 403)
        }
        await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.decide(call, session) }
        for _ in 0..<3 { await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.rig.session(call) } }
        for device in ["dev-7f3a", "dev-early"] {
            _ = try await bridge.rig.operations.resetUpstreamClient(
                ResetUpstreamClientRequest(upstream: "vendor", deviceID: device), context: bridge.rig.context)
        }
        await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.rig.session(call) }
        await expectFault(.authenticationSessionExpired) { _ = try await bridge.rig.session(early) }
    }

    @Test(
        "a code that was deleted during its login: the login is done and its logout waits, or neither, whoever dies in between",
        arguments: UpstreamStoreTests.engines)
    func deletedCodes(_ backend: Backend) async throws {
        let store = try backend.open()
        let pending = UpstreamStoreTests().pending(1)
        try await store.begin(pending)
        let session = Sample.session("s-1", record: nil)
        let part = UpstreamStoreTests().part(session)
        try await store.remember(logoutOf: part, of: [pending.handle], now: t0)
        #expect(try await store.bridgePendings(pending.key, now: t0).isEmpty)
        #expect(try await store.dueLogouts(now: t0, most: 5).map(\.part.session) == [session.id])
        // Another poll found the same profile.
        let other = Sample.session("s-2", record: nil)
        try await store.remember(logoutOf: UpstreamStoreTests().part(other), of: [pending.handle], now: t0)
        #expect(try await store.dueLogouts(now: t0, most: 5).map(\.part.session) == [session.id], "upstream is told once")
    }

    @Test(
        "ends are kept by device and requestor, also that of a client; a logout takes them away, and leaves what upstream has to hear",
        arguments: UpstreamStoreTests.engines)
    func stored(_ backend: Backend) async throws {
        let store = try backend.open()
        let (first, second, third) = (
            Sample.session("s-1", record: nil), Sample.session("s-2", record: nil, mvpd: "Other"), Sample.session("s-3", record: nil, mvpd: "Third")
        )
        #expect(try await store.gone(first.key).isEmpty)
        #expect(try await store.start(first, UpstreamStoreTests().part(first), of: nil, now: t0))
        #expect(try await store.start(second, UpstreamStoreTests().part(second, mvpd: "HillTel"), of: nil, now: t0))
        #expect(try await store.start(third, UpstreamStoreTests().part(third, mvpd: "FenTel", slot: "vendor/tv/2"), of: nil, now: t0))
        #expect(try await store.gone(first.key).isEmpty)
        try await store.drop(UpstreamStoreTests().part(first), now: t0 + .seconds(1))
        #expect(try await store.gone(first.key) == [GoneLogin(mvpd: first.mvpd, at: t0 + .seconds(1))])
        #expect(try await store.dropBridgeSlot(UpstreamStoreTests.slot, asideUntil: nil, now: t0 + .seconds(2)) == 1)
        #expect(
            try await store.gone(first.key) == [
                GoneLogin(mvpd: second.mvpd, at: t0 + .seconds(2)), GoneLogin(mvpd: first.mvpd, at: t0 + .seconds(1)),
            ])
        #expect(try await store.forgotten(first.key, since: t0).isEmpty, "their client is gone: nobody looks for them with another")
        #expect(try await store.rememberOrphans(now: t0) == 0)
        #expect(try await store.sessions(first.key).map(\.id) == [third.id])
        _ = try await store.end(first.key, client: first.clientID, mvpd: second.mvpd, now: t0)
        #expect(try await store.gone(first.key).map(\.mvpd) == [first.mvpd])
        _ = try await store.end(device: first.key.device, requestors: [first.key.requestor], claims: DeviceClaims(), now: t0)
        #expect(try await store.gone(first.key).isEmpty)
        #expect(try await store.openLogouts(of: [third.id], now: t0).count == 1)
    }
}
