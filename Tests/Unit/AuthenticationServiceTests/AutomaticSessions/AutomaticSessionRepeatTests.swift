import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The fate of a session that the device already has.
struct AutomaticSessionRepeatTests {
    @Test("A repeated call is answered with the session that is there", arguments: Backend.allCases)
    func repeats(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let login = try await rig.signIn("dev-1")
        let session = try await rig.started("dev-2", of: login)
        rig.rig.clock.advance(by: .seconds(60))
        #expect(try await rig.started("dev-2", of: login) == session)
        let renewed = try await rig.signIn("dev-1")
        let next = try await rig.started("dev-2", of: login)
        #expect(next.id != session.id && next.expiresAtMilliseconds == renewed.expiresAtMilliseconds)
    }

    @Test("Another client, or one that calls itself otherwise, gets a session of its own")
    func bindsClient() async throws {
        let rig = try await AutomaticRig()
        let login = try await rig.signIn("dev-1")
        let session = try await rig.started("dev-2", of: login)
        let other = try #require(try await rig.start("dev-2", of: [login], bearer: try await rig.rig.bearer()).session)
        #expect(other.id != session.id)
        var call = rig.call("dev-2")
        call.appID = "app-1"
        let request = StartAutomaticSessionRequest(call: call, logins: [login.reference])
        let named = try #require(try await rig.rig.logins.startAutomaticSession(request, context: rig.rig.context).session)
        #expect(named.id != other.id)
        #expect(try await rig.rig.session(call) == named)
    }

    @Test("A device that the same person is signed in at keeps its session", arguments: Backend.allCases)
    func keepsOwnLogin(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let (first, own) = (try await rig.signIn("dev-1"), try await rig.signIn("dev-2"))
        #expect(try await rig.started("dev-2", of: first) == own)
        #expect(try await rig.session("dev-2").kind == .regular)
        let other = try await rig.signIn("dev-3", mvpd: "OtherCable")
        #expect(try await rig.started("dev-2", of: other, own) == own)
    }

    @Test("Another person's session, a trial, or one that has expired gives way", arguments: Backend.allCases)
    func replacesOthers(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let ada = try await rig.signIn("dev-1")
        _ = try await rig.signIn("dev-2", user: "ben")
        #expect(try await rig.started("dev-2", of: ada).userID == ada.userID)
        try await rig.rig.preview(rig.call("dev-3"))
        #expect(try await rig.started("dev-3", of: ada).kind == .automatic)
        _ = try await rig.signIn("dev-4", sessionEnd: t0 + .seconds(60))
        rig.rig.clock.advance(by: .seconds(60))
        #expect(try await rig.started("dev-4", of: ada).kind == .automatic)
        let back = try await rig.signIn("dev-3", user: "ben")
        #expect(back.kind == .regular, "a login by hand replaces an automatic session")
    }

    @Test("Of many calls of one device at once one makes a session, and all tell it", arguments: Backend.allCases)
    func startsOnce(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let login = try await rig.signIn("dev-1")
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<24 { group.addTask { try await rig.started("dev-2", of: login).id } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(try await rig.session("dev-2").id == ids.first)
    }

    @Test("Many devices at once get a session each", arguments: Backend.allCases)
    func startsEach(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let login = try await rig.signIn("dev-1")
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<24 { group.addTask { try await rig.started("tv-\(number)", of: login).id } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 24)
        #expect(try await rig.end(Array(ids)) == 24)
    }

    @Test("Only automatic sessions are ended, each once; others and unknown ids are passed over", arguments: Backend.allCases)
    func endsAutomaticOnly(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let login = try await rig.signIn("dev-1")
        let sessions = [try await rig.started("dev-2", of: login), try await rig.started("dev-3", of: login)]
        #expect(try await rig.session("dev-2") == sessions[0])
        #expect(try await rig.end([sessions[0].id, login.id, "unknown", sessions[0].id]) == 1)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session("dev-2") }
        #expect(try await rig.session("dev-1") == login)
        #expect(try await rig.session("dev-3") == sessions[1])
        #expect(try await rig.end([sessions[0].id]) == 0)
        #expect(try await rig.end([]) == 0)
    }

    @Test("An automatic session that has expired counts as none when it is ended")
    func endsExpired() async throws {
        let rig = try await AutomaticRig()
        rig.changeIntegration { $0.authnTtlSeconds = 60 }
        let session = try await rig.started("dev-2", of: rig.signIn("dev-1"))
        rig.rig.clock.advance(by: .seconds(60))
        #expect(try await rig.end([session.id]) == 0)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session("dev-2") }
    }
}
