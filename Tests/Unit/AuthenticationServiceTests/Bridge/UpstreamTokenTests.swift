import Clocks
import Contracts
import Faults
import Foundation
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A platform's tokens, and devices that nobody remembers (bridge §5.1, §8.1).
@Suite struct UpstreamTokenTests {
    private static let roku = "x-roku-reserved-roku-connect-token"
    private static let subject = "adobe-subject-token"

    private func kept(_ bridge: BridgeRig, _ code: String) async throws -> [UInt8]? {
        let store = bridge.rig.store
        return try await store.store.first("SELECT platform_tokens FROM registration_code WHERE code = ?", [RegistrationCodeText(typed: code)]) {
            $0.next()
        }
    }

    @Test("bridge B25: a Roku or subject token that came with the code goes along with the login; it is kept sealed, and goes with the code")
    func goesAlong() async throws {
        let bridge = try BridgeRig()
        for (roku, subject) in [("roku-token-7", ""), ("", "subject-token-7"), ("roku-token-7", "subject-token-7")] {
            var call = try await bridge.viewer("dev-\(roku)-\(subject)")
            (call.rokuToken, call.subjectToken) = (roku, subject)
            let (code, handle) = try await bridge.begin(call)
            let create = try #require(bridge.upstream.calls.last { $0.path.hasSuffix("/sessions") })
            #expect(create.headers[Self.roku] == (roku.isEmpty ? nil : roku) && create.headers[Self.subject] == (subject.isEmpty ? nil : subject))
            let sealed = try #require(try await kept(bridge, code))
            #expect(!sealed.isEmpty && Data(sealed).range(of: Data("token-7".utf8)) == nil)
            bridge.somebodySignsIn()
            #expect(try await bridge.finish(handle).result == .signedIn)
            #expect(try await kept(bridge, code) == [], "the code is used")
        }
        #expect(
            bridge.upstream.calls.filter { $0.path.hasPrefix("/o/") || $0.path.hasSuffix("/configuration") || $0.path.contains("/logout/") }
                .allSatisfy { $0.headers[Self.roku] == nil && $0.headers[Self.subject] == nil })
    }

    @Test("bridge B25: without a token, or without an upstream, nothing is kept; a deleted code has none")
    func keepsNothing() async throws {
        let bridge = try BridgeRig()
        let plain = try await bridge.begin(try await bridge.viewer())
        #expect(try await kept(bridge, plain.code) == [])
        #expect(bridge.upstream.calls.last { $0.path.hasSuffix("/sessions") }?.headers[Self.roku] == nil)
        let call = try await bridge.viewer(rokuToken: "roku-token-7")
        let code = try await bridge.rig.code(call).code
        #expect(try await kept(bridge, code)?.isEmpty == false)
        _ = try await bridge.rig.service.deleteRegistrationCode(
            RegistrationCodeRequest(accessToken: call.accessToken, requestor: "CHAN7", code: code), context: bridge.rig.context)
        #expect(try await kept(bridge, code) == [])
        bridge.rig.catalogue.change { $0.requestors[0].bridge = nil }
        #expect(try await kept(bridge, try await bridge.rig.code(call).code) == [])
    }

    // MARK: After sessions were lost here

    /// Sessions are gone, our clients at the upstream are there.
    private func loseSessions(_ bridge: BridgeRig) async throws {
        let store = bridge.rig.store
        try await store.store.write { database in
            for table in ["session", "bridge_session", "bridge_pending", "logout"] { try database.run(Statement("DELETE FROM \(table)"), []) }
        }
        for device in 0..<4 { store.memory.forget(SessionKey(device: DeviceID("dev-\(device)"), requestor: RequestorID("CHAN7"))) }
        store.parts.forgetAll()
        bridge.upstream.forget()
    }

    @Test("bridge §8.1: until adoptUntil a device with a client upstream is asked about once; others cost nothing")
    func adopts() async throws {
        let bridge = try BridgeRig(adoptUntil: t0 + .seconds(3600))
        let known = try await bridge.viewer("dev-0")
        try await bridge.signIn(known)
        let nobody = try await bridge.viewer("dev-1")
        _ = try await bridge.begin(nobody)
        try await loseSessions(bridge)
        bridge.upstream.change { $0.forgotten = ["fingerprint " + Data("dev-1".utf8).base64EncodedString()] }
        bridge.upstream.change { $0.isAway = true }
        await expectFault(.upstreamUnavailable) { _ = try await bridge.rig.session(known) }
        bridge.upstream.change { $0.isAway = false }
        bridge.upstream.forget()
        #expect(try await bridge.rig.session(known).mvpd == "CoastCable")
        #expect(bridge.upstream.calls.map(\.path) == ["/api/v2/CHAN7/profiles"])
        for _ in 0..<20 { await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(nobody) } }
        #expect(bridge.upstream.calls.count == 2, "once")
        let other = bridge.rig.copy()
        await expectFault(.authenticationSessionMissing) { _ = try await other.getSession(SessionRequest(call: nobody), context: bridge.rig.context) }
        #expect(bridge.upstream.calls.count == 2, "whichever copy it calls")
        let stranger = try await bridge.viewer("dev-2")
        for _ in 0..<20 { await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(stranger) } }
        #expect(bridge.upstream.calls.count == 2, "no client of ours: nobody can have signed in")
        #expect(try await bridge.rig.logout(known) == 1)
        bridge.upstream.forget()
        for _ in 0..<5 { await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(known) } }
        #expect(bridge.upstream.count("/api/v2/CHAN7/profiles") == 0, "who signs out stays so")
    }

    @Test("bridge §8.1: after adoptUntil, and without it, nobody is asked about", arguments: [t0, nil] as [Timestamp?])
    func ends(_ end: Timestamp?) async throws {
        let bridge = try BridgeRig(adoptUntil: end)
        let call = try await bridge.viewer("dev-0")
        try await bridge.signIn(call)
        try await loseSessions(bridge)
        for _ in 0..<5 { await expectFault(.authenticationSessionMissing) { _ = try await bridge.rig.session(call) } }
        #expect(bridge.upstream.calls.isEmpty)
    }
}
