import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Integrations that an upstream closes for a while (bridge §12.1).
@Suite struct UpstreamSuspensionTests {
    private static let decision = "/decisions/authorize/CoastCable"

    private func find(_ bridge: BridgeRig, _ call: DeviceCall) async throws -> SessionSubject {
        try await bridge.rig.sessions.findSession(SessionRequest(call: call), context: bridge.rig.context)
    }

    @Test(
        "bridge B60: what upstream closes is hidden for 120 s without a call, to apps as nobody's, to decisions as a closed integration; then it goes on",
        arguments: ["invalid_integration", "invalid_parameter_mvpd"])
    func suspends(_ code: String) async throws {
        let bridge = try BridgeRig()
        let call = try await bridge.viewer()
        try await bridge.signIn(call)
        let session = try await bridge.rig.session(call)
        bridge.upstream.change { $0.answers[Self.decision] = ScriptedUpstream.refusal(code) }
        await expectFault(.unknownIntegration) { _ = try await bridge.decide(call, session) }
        #expect(bridge.upstream.calls.count == 1)
        #expect(bridge.rig.log.lines.count { $0.event == "bridge.integration_suspended" && $0.fields["mvpd"] == "CoastCable" } == 1)
        bridge.upstream.change { $0.answers[Self.decision] = ScriptedUpstream.permit("\(bridge.rig.clock.now().milliseconds + 60_000)") }
        bridge.upstream.forget()
        for seconds in [0, 60, 59] as [Int64] {
            bridge.rig.clock.advance(by: .seconds(seconds))
            for _ in 0..<10 {
                await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(call) }
                await expectFault(.unknownIntegration) { _ = try await find(bridge, call) }
                await expectFault(.unknownIntegration) { _ = try await bridge.decide(call, session) }
                await expectFault(.unknownIntegration) {
                    let code = try await bridge.rig.code(call)
                    _ = try await bridge.rig.service.startSignIn(Rig.startRequest(code.code, mvpd: "CoastCable"), context: bridge.rig.context)
                }
            }
        }
        #expect(bridge.upstream.calls.isEmpty)
        bridge.rig.clock.advance(by: .seconds(1))
        #expect(try await bridge.rig.session(call).id == session.id, "without a login")
        #expect(try await find(bridge, call).bridge != nil)
        #expect(try await bridge.decide(call, session).isPermitted)
    }

    @Test("bridge B60: an item of a preauthorization says it too; a logout is told all the same")
    func items() async throws {
        let bridge = try BridgeRig()
        let call = try await bridge.viewer()
        try await bridge.signIn(call)
        let session = try await bridge.rig.session(call)
        bridge.upstream.change {
            $0.answers["/decisions/preauthorize/CoastCable"] = ScriptedUpstream.answer(
                #"{"decisions":[{"resource":"r","authorized":false,"error":{"code":"invalid_integration","status":400}}]}"#)
            $0.answers["/logout/CoastCable"] = ScriptedUpstream.answer(#"{"logouts":{"CoastCable":{"actionName":"complete"}}}"#)
        }
        let request = AskUpstreamRequest(call: call, sessionID: session.id, resources: ["r"], isPreauthorization: true)
        _ = try await bridge.rig.sessions.askUpstream(request, context: bridge.rig.context)
        await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(call) }
        bridge.upstream.forget()
        #expect(try await bridge.rig.logout(call) == 1)
        #expect(bridge.upstream.count("/api/v2/CHAN7/logout") == 1)
    }

    @Test("bridge §7.2: a login that is refused so has the list read anew, once")
    func refreshesLists() async throws {
        let bridge = try BridgeRig()
        let call = try await bridge.viewer()
        bridge.upstream.change { $0.answers["/sessions"] = ScriptedUpstream.refusal("invalid_integration") }
        for _ in 0..<5 { await expectFault(.unknownIntegration) { _ = try await bridge.begin(call) } }
        try await bridge.called("/api/v2/CHAN7/configuration", times: 1)
        try await Task.sleep(for: .milliseconds(20))
        #expect(bridge.upstream.count("/api/v2/CHAN7/configuration") == 1 && bridge.upstream.count("/api/v2/CHAN7/sessions") == 1)
    }

    @Test("a clock that is set back ends it; other integrations and upstreams are not meant")
    func places() {
        let suspensions = UpstreamSuspensions()
        let place = UpstreamSuspensions.Place("vendor", .init("SP", "M"))
        #expect(suspensions.isEmpty && suspensions.suspend(place, now: t0) && !suspensions.suspend(place, now: t0 + .seconds(119)))
        #expect(suspensions.holds(place, now: t0 + .seconds(119)) && !suspensions.holds(place, now: t0 + .seconds(120)))
        #expect(!suspensions.holds(place, now: t0 - .seconds(1)))
        for other in [("vendor", "SP", "N"), ("vendor", "SQ", "M"), ("other", "SP", "M")] {
            #expect(!suspensions.holds(.init(other.0, .init(other.1, other.2)), now: t0))
        }
        #expect(suspensions.suspend(place, now: t0 + .seconds(120)))
    }
}
