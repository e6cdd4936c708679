import Clocks
import Contracts
import Faults
import OutboundHttp
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// FindSessionToPlay: a session with upstream's decision about it, in one call (bridge §9.1).
@Suite struct SessionToPlayTests {
    private static let resource = "CHAN7-HD"
    private static let authorize = "/api/v2/CHAN7/decisions/authorize/CoastCable"

    private func signedIn() async throws -> (BridgeRig, DeviceCall) {
        let bridge = try BridgeRig()
        let call = bridge.rig.call(try await bridge.rig.bearer())
        try await bridge.signIn(call)
        permit(bridge)
        return (bridge, call)
    }

    private func permit(_ bridge: BridgeRig) {
        let end = (bridge.rig.clock.now() + .seconds(420)).milliseconds
        answer(
            bridge,
            #"{"resource":"CHAN7-HD","authorized":true,"source":"mvpd","token":{"serializedToken":"token-1","notAfter":\#(end)}}"#)
    }

    private func answer(_ bridge: BridgeRig, _ decision: String) {
        bridge.upstream.change { $0.answers["authorize/CoastCable"] = ScriptedUpstream.answer("{\"decisions\":[\(decision)]}") }
    }

    private func find(
        _ bridge: BridgeRig, _ call: DeviceCall, mvpd: String = "", _ change: (inout SessionToPlayRequest) -> Void = { _ in }
    ) async throws -> SessionToPlay {
        var request = SessionToPlayRequest(session: SessionRequest(call: call, mvpd: mvpd), resource: Self.resource)
        change(&request)
        return try await bridge.rig.sessions.findSessionToPlay(request, context: bridge.rig.context)
    }

    @Test("the session comes with upstream's decision and its media token; the same as by two calls, of which upstream sees one question")
    func decides() async throws {
        let (bridge, call) = try await signedIn()
        let found = try await find(bridge, call)
        let subject = try await bridge.rig.sessions.findSession(SessionRequest(call: call), context: bridge.rig.context)
        #expect(found.subject == subject && subject.bridge?.upstream == "vendor")
        let decision = try #require(found.decisions?.decisions.first)
        #expect(decision.isPermitted && decision.mediaToken == "token-1" && found.fault == nil)
        #expect(bridge.upstream.count(Self.authorize) == 1)
        let asked = AskUpstreamRequest(call: call, sessionID: subject.session?.id ?? "", resources: [Self.resource])
        #expect(try await bridge.rig.sessions.askUpstream(asked, context: bridge.rig.context).decisions == [decision])
        let bearer = try #require(bridge.upstream.calls.first { $0.path.hasPrefix(Self.authorize) }?.headers["authorization"])
        #expect(!found.description(contains: bearer.dropFirst("Bearer ".count)), "it stays where it is")
    }

    @Test("upstream is asked under the caller's conditions alone: the session that it names, not the one that is settled, at that MVPD")
    func mindsConditions() async throws {
        let (bridge, call) = try await signedIn()
        let id = try #require(try await bridge.rig.session(call).id.nonEmpty)
        let without = [
            try await find(bridge, call) { $0.settledSessionID = id },
            try await find(bridge, call) { $0.onlySessionID = "another" },
            try await find(bridge, call) { $0.mvpd = "DemoCable" },
        ]
        for found in without { #expect(found.subject?.session?.id == id && found.decisions == nil && found.fault == nil) }
        #expect(bridge.upstream.count(Self.authorize) == 0)
        let with = try await find(bridge, call) {
            ($0.onlySessionID, $0.settledSessionID, $0.mvpd, $0.requiresIdentity) = (id, "another", "CoastCable", true)
        }
        #expect(with.decisions?.decisions.first?.isPermitted == true)
        #expect(bridge.upstream.count(Self.authorize) == 1)
    }

    @Test("bridge §9.1: where the integration is off upstream is not asked, and the caller gets the session to say so")
    func mindsIntegrations() async throws {
        let (bridge, call) = try await signedIn()
        bridge.rig.catalogue.change { catalogue in
            for index in catalogue.integrations.indices where catalogue.integrations[index].mvpdID == "CoastCable" {
                catalogue.integrations[index].enabled = false
            }
        }
        let found = try await find(bridge, call)
        #expect(found.subject?.bridge != nil && found.decisions == nil && found.fault == nil)
        #expect(bridge.upstream.count(Self.authorize) == 0)
    }

    @Test("a fault of upstream's comes with the session; one of the session or the bearer is the call's, and upstream is not asked")
    func tellsFaults() async throws {
        let (bridge, call) = try await signedIn()
        var stranger = call
        stranger.accessToken = "forged"
        await expectFault(.accessDenied) { [stranger] in _ = try await find(bridge, stranger) }
        var other = call
        other.deviceID = "dev-other"
        await expectFault(.authenticationSessionMissing) { [other] in _ = try await find(bridge, other) }
        #expect(bridge.upstream.count(Self.authorize) == 0)
        bridge.upstream.change { $0.isAway = true }
        let found = try await find(bridge, call)
        #expect(found.subject?.session != nil && found.decisions == nil)
        #expect(found.fault?.code == "upstream_unavailable" && found.fault?.isRetryable == true && found.fault?.retryAfterMilliseconds ?? 0 > 0)
        bridge.upstream.change { $0.isAway = false }
        answer(bridge, #"{"resource":"CHAN7-HD","authorized":false,"error":{"code":"authorization_denied_by_mvpd","action":"none","details":"No"}}"#)
        let denied = try #require(try await find(bridge, call).decisions?.decisions.first)
        #expect(!denied.isPermitted && denied.code == "authorization_denied_by_mvpd" && denied.details == "No")
    }

    @Test("a session of our own MVPDs comes alone")
    func leavesOurOwn() async throws {
        let bridge = try BridgeRig()
        let call = bridge.rig.call(try await bridge.rig.bearer())
        try await bridge.rig.preview(call)
        let found = try await find(bridge, call)
        #expect(found.subject?.session?.mvpd == "Preview10" && found.subject?.bridge == nil && found.decisions == nil)
        #expect(bridge.upstream.calls.isEmpty)
    }

    @Test("bridge §10.1: a trial that upstream gives begins without a login, and ends when upstream says")
    func beginsTrials() async throws {
        let bridge = try BridgeRig()
        let (call, now) = (try await bridge.viewer(), bridge.rig.clock.now())
        bridge.upstream.change { $0.profiles["CoastCable"] = .init(kind: "temporary", start: now, end: now + .seconds(600)) }
        let trial = try await bridge.rig.preview(call, mvpd: "CoastCable")
        #expect(trial.mvpd == "CoastCable" && trial.expiresAtMilliseconds == UInt64((now + .seconds(600)).milliseconds))
        #expect(try await bridge.rig.session(call).id == trial.id)
        bridge.upstream.change { $0.profiles = [:] }
        await expectFault(.invalidRequest) { try await bridge.rig.preview(bridge.viewer("dev-2"), mvpd: "CoastCable") }
    }

    @Test("an app of REST v2 whose login an upstream made is decided about by that upstream, not by our own rules")
    func servesV2() async throws {
        let bridge = try BridgeRig()
        let call = bridge.rig.v2Call(try await bridge.rig.bearer("old"))
        let code = try #require(try await bridge.rig.plan(call, mvpd: "CoastCable").code?.code)
        _ = try await bridge.rig.service.startSignIn(
            StartSignInRequest(requestor: "CHAN7", registrationCode: code, api: .v2), context: bridge.rig.context)
        let now = bridge.rig.clock.now()
        bridge.upstream.change { $0.profiles["CoastCable"] = .init(start: now, end: now + .seconds(86_400)) }
        try await bridge.comeBack()
        permit(bridge)
        let subject = try await bridge.rig.sessions.findSession(SessionRequest(call: call, mvpd: "CoastCable"), context: bridge.rig.context)
        #expect(subject.bridge?.upstream == "vendor" && subject.bridge?.mvpd == "CoastCable")
        let found = try await find(bridge, call, mvpd: "CoastCable")
        #expect(found.subject == subject && found.decisions?.decisions.first?.mediaToken == "token-1")
    }
}

extension SessionToPlay {
    fileprivate func description(contains text: Substring) -> Bool { !text.isEmpty && "\(self)".contains(text) }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
