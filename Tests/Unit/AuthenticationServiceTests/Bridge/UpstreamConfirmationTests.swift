import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A sign-in that a person confirmed stays with that person's browser, also where an upstream has the login (bridge §7.2 to §7.4).
@Suite struct UpstreamConfirmationTests {
    private static let profile = "/api/v2/CHAN7/profiles"
    private static let signedInAlready = ScriptedUpstream.answer(#"{"actionName":"authorize","reasonType":"authenticated"}"#)
    private static let forgotten = ScriptedUpstream.answer(#"{"logouts":{"CoastCable":{"actionName":"complete","actionType":"none"}}}"#)

    private func rig(confirms: Bool = true) throws -> BridgeRig {
        let bridge = try BridgeRig()
        bridge.rig.catalogue.change { $0.requestors[0].confirmsSignIn = confirms }
        return bridge
    }

    private func viewer(_ bridge: BridgeRig, _ device: String = "dev-7f3a", token: String = "") async throws -> DeviceCall {
        var call = bridge.rig.call(try await bridge.rig.bearer(), device: device)
        call.rokuToken = token
        return call
    }

    /// A browser in which a person confirmed a sign-in, and what upstream alone knows of it.
    private struct Login {
        let start: SignInStart
        let code: String
        let handle: String
    }

    private func begin(_ bridge: BridgeRig, _ call: DeviceCall, code: String? = nil, secrets: [String] = []) async throws -> Login {
        var text = code ?? ""
        if code == nil { text = try await bridge.rig.code(call).code }
        var request = Rig.startRequest(text, mvpd: "CoastCable")
        request.bridgeSecrets = secrets
        let start = try await bridge.rig.service.startSignIn(request, context: bridge.rig.context)
        let body = try #require(bridge.upstream.calls.last { $0.path.hasSuffix("/sessions") }?.body)
        let handle = try #require(body.firstMatch(of: /return%2F([A-Za-z0-9_-]+)/)?.1)
        return Login(start: start, code: text, handle: String(handle))
    }

    private func back(_ bridge: BridgeRig, _ login: Login, secret: String) async throws -> SignInOutcome {
        try await bridge.rig.service.returnFromBridge(
            ReturnFromBridgeRequest(handle: login.handle, browserSecret: secret), context: bridge.rig.context)
    }

    /// Somebody signs in at the upstream.
    private func someoneSignsIn(_ bridge: BridgeRig, kind: String = "regular", token: String? = nil) {
        let now = bridge.rig.clock.now()
        bridge.upstream.change { $0.profiles["CoastCable"] = .init(kind: kind, start: now, end: now + .seconds(86_400), token: token) }
    }

    private func logouts(_ bridge: BridgeRig) async throws -> Int {
        let store = bridge.rig.store
        return try await store.dueLogouts(now: bridge.rig.clock.now(), most: 10).count
    }

    private func expectNobody(_ bridge: BridgeRig, _ call: DeviceCall, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        var call = call
        call.accessToken = try await bridge.rig.bearer()
        await expectFault(.authenticationSessionMissing, sourceLocation: sourceLocation) { [call] in _ = try await bridge.rig.session(call) }
    }

    @Test("bridge §7.3: the browser that confirmed returns, and the device is signed in; a used handle answers again, to that browser alone")
    func sameBrowser() async throws {
        let bridge = try rig()
        let call = try await viewer(bridge)
        let login = try await begin(bridge, call)
        #expect(login.start.bridgeHandle == login.handle && login.start.bridgeSecret.utf8.count >= 22 && login.start.expiresInSeconds == 1800)
        #expect(login.start.browserSecret.isEmpty)
        someoneSignsIn(bridge)
        let outcome = try await back(bridge, login, secret: login.start.bridgeSecret)
        #expect(outcome.result == .signedIn && outcome.redirectURL == "https://chan7.example/done")
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        bridge.upstream.forget()
        #expect(try await back(bridge, login, secret: login.start.bridgeSecret).result == .signedIn)
        #expect(try await back(bridge, login, secret: "").otherBrowser)
        #expect(bridge.upstream.calls.isEmpty)
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        #expect(try await logouts(bridge) == 0)
    }

    @Test("bridge §7.3: another browser, or one without the cookie, signs nobody in: the profile goes to the logouts, and nothing adopts it later")
    func otherBrowser() async throws {
        for secret in ["", "guessed"] {
            let bridge = try rig()
            let call = try await viewer(bridge)
            let login = try await begin(bridge, call)
            bridge.rig.clock.advance(by: .seconds(60))
            someoneSignsIn(bridge)
            let outcome = try await back(bridge, login, secret: secret)
            #expect(outcome.result == .rejected && outcome.otherBrowser && outcome.redirectURL.isEmpty && !outcome.traceID.isEmpty)
            #expect(outcome.requestor == call.requestor)
            #expect(try await logouts(bridge) == 1)
            bridge.upstream.forget()
            for _ in 0..<5 { try await expectNobody(bridge, call) }
            #expect(try await back(bridge, login, secret: login.start.bridgeSecret).result != .rejected, "it is the right browser, and over")
            try await expectNobody(bridge, call)
            #expect(bridge.upstream.count(Self.profile) == 0, "nothing is read any more")
            // As long as upstream has not forgotten it, nothing begins.
            bridge.upstream.change { $0.answers["/sessions"] = Self.signedInAlready }
            await expectFault(.upstreamUnavailable) { _ = try await begin(bridge, call, code: login.code) }
            try await expectNobody(bridge, call)
            // Once it has, a person who confirms signs in.
            bridge.upstream.change {
                $0.answers = ["/logout/CoastCable": Self.forgotten]
                $0.profiles = [:]
            }
            let second = try await begin(bridge, call, code: login.code)
            someoneSignsIn(bridge)
            #expect(try await back(bridge, second, secret: second.start.bridgeSecret).result == .signedIn)
            #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
            #expect(try await logouts(bridge) == 0)
        }
    }

    @Test("bridge §7.2: while a login is open, 'authorize/authenticated' adopts no profile that began since; upstream is told to forget it")
    func signedInAlready() async throws {
        let bridge = try rig()
        let call = try await viewer(bridge)
        let login = try await begin(bridge, call)
        bridge.rig.clock.advance(by: .seconds(60))
        someoneSignsIn(bridge)
        bridge.upstream.change { $0.answers["/sessions"] = Self.signedInAlready }
        bridge.rig.clock.advance(by: .seconds(60))
        for code in [login.code, nil] {
            await expectFault(.upstreamUnavailable) { _ = try await begin(bridge, call, code: code) }
            try await expectNobody(bridge, call)
        }
        #expect(bridge.rig.log.lines.contains { $0.event == "bridge.sign_in_ended" && $0.fields["result"] == "not_confirmed" })
        #expect(bridge.upstream.count("/api/v2/CHAN7/logout") > 0)
    }

    @Test("bridge §7.2: a profile of before the login is adopted as ever, and without confirmsSignIn everything is as it was")
    func asEver() async throws {
        let bridge = try rig()
        let call = try await viewer(bridge)
        someoneSignsIn(bridge)
        bridge.rig.clock.advance(by: .seconds(600))
        let login = try await begin(bridge, call)
        bridge.upstream.change { $0.answers["/sessions"] = Self.signedInAlready }
        _ = try await begin(bridge, call, code: login.code)
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        let other = try rig(confirms: false)
        let device = try await viewer(other)
        let open = try await begin(other, device)
        #expect(open.start.bridgeHandle.isEmpty && open.start.bridgeSecret.isEmpty)
        someoneSignsIn(other)
        #expect(try await back(other, open, secret: "").result == .signedIn)
        #expect(try await other.rig.session(device).mvpd == "CoastCable")
    }

    @Test("bridge §8.1: nor does a platform's token sign a device in by a login that began since")
    func platformToken() async throws {
        let bridge = try rig()
        let call = try await viewer(bridge, token: "roku-7")
        _ = try await begin(bridge, call)
        bridge.rig.clock.advance(by: .seconds(60))
        someoneSignsIn(bridge, kind: "platformSSO", token: "roku-7")
        try await expectNobody(bridge, call)
        // The login is over, and was nobody's.
        bridge.rig.clock.advance(by: .seconds(1861))
        bridge.upstream.change { $0.answers["/profiles/CoastCable"] = ScriptedUpstream.answer(#"{"profiles":{}}"#) }
        await bridge.rig.modules.upstreams?.signIns.resolveOnce()
        bridge.upstream.change { $0.answers = [:] }
        var later = call
        later.accessToken = try await bridge.rig.bearer()
        #expect(try await bridge.rig.session(later).mvpd == "CoastCable")
    }

    @Test("bridge §7.2: within ten seconds the same start is for the same browser alone")
    func reusedStart() async throws {
        let bridge = try rig()
        let call = try await viewer(bridge)
        let first = try await begin(bridge, call)
        let again = try await begin(bridge, call, code: first.code, secrets: ["x", first.start.bridgeSecret])
        #expect(again.start.url == first.start.url && again.handle == first.handle)
        #expect(bridge.upstream.count("/api/v2/CHAN7/sessions") == 1)
        let stranger = try await begin(bridge, call, code: first.code, secrets: ["x"])
        #expect(stranger.handle != first.handle && stranger.start.bridgeSecret != first.start.bridgeSecret)
        // The first one was replaced: its browser signs nobody in, and the second one's does.
        someoneSignsIn(bridge)
        #expect(try await back(bridge, first, secret: first.start.bridgeSecret).result == .declined)
        try await expectNobody(bridge, call)
        #expect(try await back(bridge, stranger, secret: stranger.start.bridgeSecret).result == .signedIn)
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
    }

    @Test("bridge §7.3: the browser that confirmed has one try: who cancels, and has the address, gets no other person's login")
    func oneTry() async throws {
        let bridge = try rig()
        let call = try await viewer(bridge)
        let login = try await begin(bridge, call)
        #expect(try await back(bridge, login, secret: login.start.bridgeSecret).result == .declined)
        bridge.rig.clock.advance(by: .seconds(60))
        someoneSignsIn(bridge)
        bridge.upstream.forget()
        for _ in 0..<3 {
            bridge.rig.clock.advance(by: .seconds(10))
            #expect(try await back(bridge, login, secret: login.start.bridgeSecret).result == .declined)
            try await expectNobody(bridge, call)
            await expectFault(.authenticationSessionMissing) {
                _ = try await bridge.rig.service.getSessionByCode(
                    SessionByCodeRequest(requestor: "CHAN7", code: login.code), context: bridge.rig.context)
            }
        }
        #expect(bridge.upstream.calls.isEmpty)
        // The other person comes back.
        #expect(try await back(bridge, login, secret: "").otherBrowser)
        #expect(try await logouts(bridge) == 1)
    }

    @Test("bridge §7.5: a login that nobody brings back is looked for once when it is over, and what it made is logged out")
    func nobodyReturns() async throws {
        let bridge = try rig()
        let call = try await viewer(bridge)
        _ = try await begin(bridge, call)
        bridge.rig.clock.advance(by: .seconds(60))
        someoneSignsIn(bridge)
        await bridge.rig.modules.upstreams?.signIns.resolveOnce()
        #expect(try await logouts(bridge) == 0, "its browser may still come")
        bridge.rig.clock.advance(by: .seconds(1861))
        await bridge.rig.modules.upstreams?.signIns.resolveOnce()
        #expect(try await logouts(bridge) == 1)
        try await expectNobody(bridge, call)
        bridge.upstream.forget()
        await bridge.rig.modules.upstreams?.signIns.resolveOnce()
        #expect(bridge.upstream.count(Self.profile) == 0)
    }

    @Test("bridge §7.3: upstream is away when another browser returns: what the login made is logged out once upstream is back")
    func awayAtReturn() async throws {
        let bridge = try rig()
        let call = try await viewer(bridge)
        let login = try await begin(bridge, call)
        bridge.rig.clock.advance(by: .seconds(60))
        someoneSignsIn(bridge)
        bridge.upstream.change { $0.isAway = true }
        #expect(try await back(bridge, login, secret: "").otherBrowser)
        await bridge.rig.modules.upstreams?.signIns.resolveOnce()
        #expect(try await logouts(bridge) == 0)
        bridge.upstream.change { $0.isAway = false }
        bridge.rig.clock.advance(by: .seconds(60))
        await bridge.rig.modules.upstreams?.signIns.resolveOnce()
        #expect(try await logouts(bridge) == 1)
        try await expectNobody(bridge, call)
        // The right browser, with upstream away: undecided, and found later.
        let honest = try rig()
        let device = try await viewer(honest)
        let own = try await begin(honest, device)
        someoneSignsIn(honest)
        honest.upstream.change { $0.isAway = true }
        #expect(try await back(honest, own, secret: own.start.bridgeSecret).result == .declined)
        await expectFault(.upstreamUnavailable) { _ = try await honest.rig.session(device) }
        honest.upstream.change { $0.isAway = false }
        honest.rig.clock.advance(by: .seconds(60))
        #expect(try await honest.rig.session(device).mvpd == "CoastCable")
    }
}
