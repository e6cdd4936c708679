import Clocks
import Contracts
import Faults
import Foundation
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The people whom an upstream has signed in, at any time of day (bridge §8.1).
@Suite struct UpstreamSessionTests {
    private static let profile = "/api/v2/CHAN7/profiles"

    private func viewer(_ rig: BridgeRig, _ device: String = "dev-7f3a", token: String = "") async throws -> DeviceCall {
        var call = rig.rig.call(try await rig.rig.bearer(), device: device)
        call.rokuToken = token
        return call
    }

    @Test("bridge B52: past its end a session has expired, a day later it is none, and upstream is not asked")
    func ends() async throws {
        let bridge = try BridgeRig()
        var call = try await viewer(bridge)
        try await bridge.signIn(call, lasting: .seconds(600))
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        bridge.rig.clock.advance(by: .seconds(600))
        await expectFault(.authenticationSessionExpired) { [call] in _ = try await bridge.rig.session(call) }
        bridge.rig.clock.advance(by: .seconds(86_399))
        call.accessToken = try await bridge.rig.bearer()
        await expectFault(.authenticationSessionExpired) { [call] in _ = try await bridge.rig.session(call) }
        bridge.rig.clock.advance(by: .seconds(1))
        await expectFault(.authenticationSessionMissing) { [call] in _ = try await bridge.rig.session(call) }
        #expect(bridge.upstream.calls.isEmpty)
    }

    @Test("bridge B54: what was confirmed lately holds; later it holds too, and is confirmed beside; after a day upstream has to say so")
    func confirms() async throws {
        let bridge = try BridgeRig()
        var call = try await viewer(bridge)
        try await bridge.signIn(call)
        bridge.rig.clock.advance(by: .seconds(299))
        for _ in 0..<50 { _ = try await bridge.rig.session(call) }
        #expect(bridge.upstream.calls.isEmpty)
        bridge.rig.clock.advance(by: .seconds(2))
        for _ in 0..<50 { _ = try await bridge.rig.session(call) }
        try await bridge.called(Self.profile, times: 1)
        bridge.upstream.change { $0.isAway = true }
        bridge.rig.clock.advance(by: .seconds(3600))
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        bridge.rig.clock.advance(by: .seconds(86_400))
        call.accessToken = try await bridge.rig.bearer()
        await expectFault(.upstreamUnavailable) { [call] in _ = try await bridge.rig.session(call) }
        bridge.upstream.change { $0.isAway = false }
        // The breaker may have opened.
        bridge.rig.clock.advance(by: .seconds(60))
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
    }

    @Test("bridge B55: a profile that is not there yet is no sign-out in the first minute; afterwards it is one")
    func waitsForProfiles() async throws {
        let bridge = try BridgeRig()
        bridge.rig.catalogue.change { $0.upstreams[0].times = .short }
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        bridge.upstream.change { $0.profiles = [:] }
        bridge.rig.clock.advance(by: .seconds(11))
        _ = try await bridge.rig.session(call)
        try await bridge.called(Self.profile, times: 1)
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        bridge.rig.clock.advance(by: .seconds(60))
        _ = try await bridge.rig.session(call)
        try await bridge.called(Self.profile, times: 2)
        try await ended(call, bridge)
    }

    @Test(
        "bridge B56: where half of a hundred are gone at once there is an alarm; who is known again is signed in within ten minutes, without a login",
        .tags(.timing))
    func takesAgain() async throws {
        let bridge = try BridgeRig()
        var calls: [DeviceCall] = []
        for number in 0..<100 {
            let call = try await viewer(bridge, "dev-\(number)")
            try await bridge.signIn(call)
            calls.append(call)
        }
        bridge.upstream.change { script in
            script.forgotten = Set((0..<50).map { "fingerprint " + Data("dev-\($0)".utf8).base64EncodedString() })
        }
        bridge.rig.clock.advance(by: .seconds(301))
        for call in calls { _ = try await bridge.rig.session(call) }
        try await bridge.called(Self.profile, times: 100)
        for call in calls.prefix(50) { try await ended(call, bridge) }
        for call in calls.suffix(50) { #expect(try await bridge.rig.session(call).mvpd == "CoastCable") }
        let alarms = bridge.rig.log.lines.filter { $0.event == "bridge.mass_sign_out" }
        #expect(alarms.count == 1 && alarms.first?.level == .error && alarms.first?.fields["upstream"] == "vendor")
        bridge.upstream.forget()
        for _ in 0..<5 {
            for call in calls.prefix(50) { await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.rig.session(call) } }
        }
        #expect(bridge.upstream.calls.count <= 50, "each was looked for once")
        bridge.upstream.change { $0.forgotten = [] }
        bridge.rig.clock.advance(by: .seconds(600))
        for call in calls { #expect(try await bridge.rig.session(call).mvpd == "CoastCable") }
        #expect(bridge.rig.log.lines.count { $0.event == "bridge.session_revived" } == 50)
        let store = bridge.rig.store
        #expect(
            try await store.forgotten(SessionKey(device: DeviceID("dev-1"), requestor: RequestorID("CHAN7")), since: t0).isEmpty,
            "what came back is not forgotten any more")
    }

    @Test("a session that upstream alone forgot is not looked for again, and of it nothing is kept that upstream told")
    func forgetsOne() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        bridge.upstream.change { $0.profiles = [:] }
        bridge.rig.clock.advance(by: .seconds(301))
        _ = try await bridge.rig.session(call)
        try await bridge.called(Self.profile, times: 1)
        try await ended(call, bridge)
        bridge.upstream.forget()
        for _ in 0..<20 { await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.rig.session(call) } }
        #expect(bridge.upstream.calls.isEmpty)
        let store = bridge.rig.store
        let kept = try await store.forgotten(SessionKey(device: DeviceID("dev-7f3a"), requestor: RequestorID("CHAN7")), since: t0)
        #expect(kept.count == 1 && kept[0].attributes.isEmpty && kept[0].encryptedNames.isEmpty)
    }

    /// A background read takes its moment.
    private func ended(_ call: DeviceCall, _ bridge: BridgeRig) async throws {
        for _ in 0..<1000 {
            guard (try? await bridge.rig.session(call)) != nil else { break }
            try await Task.sleep(for: .milliseconds(2))
        }
        await expectFault(.authenticationSessionInvalidated) { [call] in _ = try await bridge.rig.session(call) }
    }

    @Test("bridge B85: a session of upstream's degradation goes on while the rule holds, and has expired when it is lifted")
    func endsWithRules() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        let now = bridge.rig.clock.now()
        bridge.upstream.change {
            $0.answers["/sessions"] = ScriptedUpstream.answer(#"{"actionName":"authorize","reasonType":"degraded"}"#)
            $0.profiles["CoastCable"] = .init(kind: "degraded", start: now, end: now + .seconds(60))
        }
        let code = try await bridge.rig.code(call)
        _ = try await bridge.rig.service.startSignIn(Rig.startRequest(code.code, mvpd: "CoastCable"), context: bridge.rig.context)
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        bridge.rig.clock.advance(by: .seconds(61))
        let later = bridge.rig.clock.now()
        bridge.upstream.change { $0.profiles["CoastCable"] = .init(kind: "degraded", start: later, end: later + .seconds(60)) }
        #expect(try await bridge.rig.session(call).expiresAtMilliseconds == UInt64((later + .seconds(60)).milliseconds))
        bridge.upstream.change { $0.profiles = [:] }
        bridge.rig.clock.advance(by: .seconds(61))
        bridge.upstream.forget()
        for _ in 0..<20 { await expectFault(.authenticationSessionExpired) { [call] in _ = try await bridge.rig.session(call) } }
        #expect(bridge.upstream.calls.count == 1, "a rule that is gone is asked about once")
    }

    // MARK: Logins elsewhere

    @Test("bridge B91: a token signs an unknown device in; without one nobody is asked about; where upstream is away nobody knows")
    func looksUp() async throws {
        let bridge = try BridgeRig()
        let (call, other) = (try await viewer(bridge, token: "roku-7"), try await viewer(bridge, "dev-other"))
        for _ in 0..<50 { await expectFault(.authenticationSessionMissing) { [call] in _ = try await bridge.rig.session(call) } }
        #expect(bridge.upstream.count(Self.profile) == 1)
        #expect(bridge.upstream.calls.last?.headers["x-roku-reserved-roku-connect-token"] == "roku-7")
        let now = bridge.rig.clock.now()
        bridge.upstream.change { $0.profiles["CoastCable"] = .init(kind: "platformSSO", start: now, end: now + .seconds(86_400), token: "roku-7") }
        bridge.rig.clock.advance(by: .seconds(599))
        await expectFault(.authenticationSessionMissing) { [call] in _ = try await bridge.rig.session(call) }
        bridge.rig.clock.advance(by: .seconds(1))
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        #expect(bridge.upstream.count(Self.profile) == 2)
        await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(other) }
        #expect(bridge.upstream.count(Self.profile) == 2, "it says nothing of whose it is")
        bridge.upstream.change { $0.isAway = true }
        let late = try await viewer(bridge, "dev-late", token: "roku-7")
        await expectFault(.upstreamUnavailable) { _ = try await bridge.rig.session(late) }
    }

    @Test("bridge B92: such a session is not asked about without the token; after a logout an old login does not come back, a new one does")
    func sharesLogins() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge, token: "roku-7")
        let now = bridge.rig.clock.now()
        bridge.upstream.change { $0.profiles["CoastCable"] = .init(kind: "platformSSO", start: now, end: now + .seconds(86_400), token: "roku-7") }
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        var plain = call
        plain.rokuToken = ""
        bridge.upstream.forget()
        bridge.rig.clock.advance(by: .seconds(3600))
        #expect(try await bridge.rig.session(plain).mvpd == "CoastCable")
        #expect(bridge.upstream.calls.isEmpty)
        #expect(try await bridge.rig.logout(call) == 1)
        #expect(
            bridge.upstream.calls.allSatisfy { $0.headers["x-roku-reserved-roku-connect-token"] == nil }, "that would sign the person out everywhere")
        await expectFault(.authenticationSessionMissing) { [call] in _ = try await bridge.rig.session(call) }
        bridge.rig.clock.advance(by: .seconds(601))
        await expectFault(.authenticationSessionMissing) { [call] in _ = try await bridge.rig.session(call) }
        let later = bridge.rig.clock.now()
        bridge.upstream.change { $0.profiles["CoastCable"]?.start = later }
        bridge.rig.clock.advance(by: .seconds(601))
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
    }

    // MARK: The whole list

    @Test("bridge B29: where a requestor is upstream as a whole, what its list has can be signed in at; a list serves two minutes")
    func offersEverything() async throws {
        let bridge = try BridgeRig { $0.everyMvpd = true }
        let call = try await viewer(bridge)
        func start(_ mvpd: String) async throws {
            let code = try await bridge.rig.code(call)
            _ = try await bridge.rig.service.startSignIn(Rig.startRequest(code.code, mvpd: mvpd), context: bridge.rig.context)
        }
        let list = "/api/v2/CHAN7/configuration"
        _ = try await bridge.rig.code(call, mvpd: "Nobody")
        #expect(bridge.upstream.calls.isEmpty, "no list is at hand")
        try await start("HillTel")
        for _ in 0..<20 { await expectFault(.unknownIntegration) { try await start("NewTel") } }
        await expectFault(.unknownIntegration) { _ = try await bridge.rig.code(call, mvpd: "NewTel") }
        #expect(bridge.upstream.count(list) == 1)
        bridge.upstream.change { $0.listed.append("NewTel") }
        bridge.rig.clock.advance(by: .seconds(120))
        try await start("NewTel")
        _ = try await bridge.rig.code(call, mvpd: "NewTel")
        #expect(bridge.upstream.count(list) == 2)
        // The catalogue comes first.
        await expectFault(.unknownIntegration) { try await start("ParkedTV") }
        bridge.rig.catalogue.change { $0.requestors[0].bridge?.everyMvpd = false }
        await expectFault(.unknownIntegration) { try await start("NewTel") }
    }
}

extension BridgeTimes {
    /// Profiles are confirmed every ten seconds; everything else as ever.
    fileprivate static var short: BridgeTimes {
        BridgeTimes(
            listSeconds: 120, listStaleSeconds: 604_800, profileFreshSeconds: 10, profileStaleSeconds: 86_400, negativeSeconds: 600, pollSeconds: 5,
            holdMediaTokenSeconds: 60, decisionFreshSeconds: 60, connectionAgeSeconds: 60)
    }
}
