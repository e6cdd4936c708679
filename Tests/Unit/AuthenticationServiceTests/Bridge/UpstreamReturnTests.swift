import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Browsers that return from an upstream which cannot be asked (bridge §7.3, §8.1).
@Suite struct UpstreamReturnTests {
    private func expectUndecided(_ bridge: BridgeRig, _ call: DeviceCall, code: String? = nil) async {
        do {
            if let code { _ = try await bridge.rig.session(byCode: code) } else { _ = try await bridge.rig.session(call) }
            Issue.record("somebody is signed in")
        } catch let fault as Fault {
            #expect(fault.code == .upstreamUnavailable && (fault.retryAfter ?? .zero) > .zero, "\(fault.code)")
        } catch { Issue.record("\(error)") }
    }

    /// With upstream away at the return.
    private func undecided() async throws -> (bridge: BridgeRig, call: DeviceCall, code: String) {
        let bridge = try BridgeRig()
        let call = try await bridge.viewer()
        let (code, handle) = try await bridge.begin(call)
        bridge.somebodySignsIn()
        bridge.upstream.change { $0.isAway = true }
        let outcome = try await bridge.finish(handle)
        #expect(outcome.result == .declined && outcome.redirectURL == "https://chan7.example/done")
        bridge.upstream.forget()
        return (bridge, call, code)
    }

    @Test("bridge B44: an undecided login is 503 with a time to wait, for the device and for its code, never a no; once upstream is back it is found")
    func staysUndecided() async throws {
        let (bridge, call, code) = try await undecided()
        for second in 0..<60 {
            await expectUndecided(bridge, call)
            if second % 10 == 0 { await expectUndecided(bridge, call, code: code) }
            bridge.rig.clock.advance(by: .seconds(1))
        }
        bridge.upstream.change { $0.isAway = false }
        // Where the breaker has opened it lets probes through by then.
        bridge.rig.clock.advance(by: .seconds(15))
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        #expect(try await bridge.rig.session(byCode: code).mvpd == "CoastCable")
    }

    @Test("bridge B44: a copy that was not there at the return, or was started since, says the same")
    func otherCopies() async throws {
        let (bridge, call, code) = try await undecided()
        let other = bridge.rig.copy()
        for _ in 0..<3 {
            await expectFault(.upstreamUnavailable) { _ = try await other.getSession(SessionRequest(call: call), context: bridge.rig.context) }
            await expectFault(.upstreamUnavailable) {
                _ = try await other.getSessionByCode(SessionByCodeRequest(requestor: "CHAN7", code: code), context: bridge.rig.context)
            }
        }
        bridge.upstream.change { $0.isAway = false }
        bridge.rig.clock.advance(by: .seconds(15))
        #expect(try await other.getSession(SessionRequest(call: call), context: bridge.rig.context).mvpd == "CoastCable")
    }

    @Test("bridge B44: where upstream, once it is back, knows of nobody, the login was cancelled; it is looked for three times more, and no more")
    func cancelled() async throws {
        let (bridge, call, _) = try await undecided()
        bridge.upstream.change { script in
            script.isAway = false
            script.profiles = [:]
        }
        bridge.rig.clock.advance(by: .seconds(15))
        await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(call) }
        bridge.upstream.forget()
        for _ in 0..<60 {
            bridge.rig.clock.advance(by: .seconds(1))
            await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(call) }
        }
        #expect(bridge.upstream.count("/api/v2/CHAN7/profiles") == 3)
    }

    @Test("bridge §8.1: an older session holds while a later login is undecided")
    func olderSession() async throws {
        let bridge = try BridgeRig()
        let call = try await bridge.viewer()
        try await bridge.signIn(call)
        let (_, handle) = try await bridge.begin(call)
        bridge.upstream.change { $0.isAway = true }
        #expect(try await bridge.finish(handle).result == .declined)
        for _ in 0..<10 { #expect(try await bridge.rig.session(call).mvpd == "CoastCable") }
    }
}
