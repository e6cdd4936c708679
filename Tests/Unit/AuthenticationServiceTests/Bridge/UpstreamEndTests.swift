import Clocks
import Contracts
import Doubles
import Faults
import Logging
import ManualClocks
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Ends that an upstream tells, and that nobody can mean (bridge §8.1).
@Suite struct UpstreamEndTests {
    private static let day: Duration = .seconds(86_400)
    private static let most: Duration = .seconds(400 * 86_400)
    /// The latest that is read at all.
    private static let endless = Timestamp(milliseconds: 1 << 53)

    @Test("bridge §8.1: an end later than 400 days is kept and told as that; when it comes upstream is asked, and the session does not end")
    func askedAgain() async throws {
        let bridge = try BridgeRig()
        let call = try await bridge.viewer()
        let (_, handle) = try await bridge.begin(call)
        bridge.upstream.change { $0.profiles["CoastCable"] = .init(start: t0, end: Self.endless) }
        #expect(try await bridge.finish(handle).result == .signedIn)
        #expect(try await bridge.rig.session(call).expiresAtMilliseconds == UInt64((t0 + Self.most).milliseconds))
        bridge.upstream.forget()
        bridge.rig.clock.advance(by: Self.most)
        let later = try await bridge.viewer()
        bridge.upstream.change { $0.isAway = true }
        await expectFault(.upstreamUnavailable) { _ = try await bridge.rig.session(later) }
        bridge.upstream.change { $0.isAway = false }
        #expect(try await bridge.rig.session(later).expiresAtMilliseconds == UInt64((t0 + Self.most + Self.most).milliseconds))
        #expect(bridge.upstream.count("/api/v2/CHAN7/sessions") == 0, "nobody has to sign in again")
        bridge.upstream.change { $0.profiles = [:] }
        bridge.rig.clock.advance(by: Self.most)
        let last = try await bridge.viewer()
        bridge.upstream.forget()
        for _ in 0..<5 { await expectFault(.authenticationSessionExpired) { _ = try await bridge.rig.session(last) } }
        #expect(bridge.upstream.count("/api/v2/CHAN7/profiles") == 1, "it is asked about once")
    }

    @Test("an end that upstream told is no limit of ours: the session ends then, and upstream is not asked")
    func endsAsTold() async throws {
        let bridge = try BridgeRig()
        try await bridge.signIn(try await bridge.viewer(), lasting: Self.most - .seconds(1))
        bridge.rig.clock.advance(by: Self.most - .seconds(1))
        let later = try await bridge.viewer()
        await expectFault(.authenticationSessionExpired) { _ = try await bridge.rig.session(later) }
        #expect(bridge.upstream.calls.isEmpty)
    }

    @Test("bridge §8.1: ends of decisions and of media tokens are told as 400 days at most; one that is no time makes the decision no answer")
    func decisions() async throws {
        let bridge = try BridgeRig()
        let call = try await bridge.viewer()
        try await bridge.signIn(call)
        let session = try await bridge.rig.session(call)
        bridge.upstream.change { $0.answers["/decisions/authorize/CoastCable"] = ScriptedUpstream.permit("\(1 << 53)") }
        let decision = try await bridge.decide(call, session)
        let end = UInt64((bridge.rig.clock.now() + Self.most).milliseconds)
        #expect(decision.isPermitted && decision.expiresAtMilliseconds == end && decision.mediaTokenExpiresAtMilliseconds == end)
        for end in ["-1", "9007199254740993", "\"soon\""] {
            bridge.upstream.change { $0.answers["/decisions/authorize/CoastCable"] = ScriptedUpstream.permit(end) }
            await expectFault(.upstreamUnavailable) { _ = try await bridge.decide(call, session) }
        }
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable", "it says nothing of the person")
    }

    @Test("bridge §8.1: a profile whose end is no time signs nobody in and out", arguments: ["-1", "9007199254740993", "\"soon\"", "1e300", "null"])
    func uselessEnds(_ end: String) async throws {
        let bridge = try BridgeRig()
        let call = try await bridge.viewer()
        try await bridge.signIn(call)
        bridge.upstream.change {
            $0.answers["/profiles/CoastCable"] = ScriptedUpstream.answer(
                #"{"profiles":{"CoastCable":{"type":"regular","notBefore":1,"notAfter":\#(end)}}}"#)
        }
        bridge.rig.clock.advance(by: .seconds(301))
        _ = try await bridge.rig.session(call)
        try await bridge.called("/api/v2/CHAN7/profiles", times: 1)
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable", "it stands as it was confirmed last")
        let other = try await bridge.viewer("dev-2")
        bridge.upstream.change { $0.answers["/sessions"] = ScriptedUpstream.answer(#"{"actionName":"authorize"}"#) }
        await expectFault(.upstreamUnavailable) { _ = try await bridge.begin(other) }
        await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(other) }
    }

    @Test("bridge §8.1: the sweep brings what was stored beyond it there; sessions of our own stay", arguments: UpstreamStoreTests.engines)
    func stored(_ backend: Backend) async throws {
        let store = try backend.open()
        func session(_ id: String, device: String) -> SessionRecord {
            Sample.session(id, device: device, record: nil, lifetime: Self.endless - t0)
        }
        let (theirs, ours) = (session("s-1", device: "dev-1"), session("s-2", device: "dev-2"))
        let part = UpstreamPart(
            session: theirs.id, key: theirs.key, mvpd: theirs.mvpd, upstream: "vendor", serviceProvider: "SP", theirMvpd: "M", slot: "vendor/tv/1",
            kind: "regular", startsAt: t0, expiresAt: theirs.expiresAt, confirmedAt: t0 - Self.day, encryptedNames: [], attributes: [],
            device: theirs.device, userAgent: "")
        #expect(try await store.start(theirs, part, of: nil, now: t0))
        #expect(try await store.start(ours, now: t0))
        let sweeper = Sweeper(
            store: store.store, name: "authentication", sweeps: AuthenticationDatabase.sweeps, clock: ManualClock(t0),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        for sweep in AuthenticationDatabase.sweeps { try await sweeper.sweep(sweep) }
        let other = SqlAuthenticationStore(store.store)
        let end = t0 + Self.most
        let kept = try #require(try await other.bridgedPart(theirs.id))
        #expect(kept.expiresAt == end && kept.endsByLimit)
        #expect(try await other.sessions(theirs.key).map(\.expiresAt) == [end])
        #expect(try await other.sessions(ours.key).map(\.expiresAt) == [Self.endless])
    }
}
