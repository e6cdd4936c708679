import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Automatic sessions of MVPDs that sign people in by OAuth (mvpd §3).
struct AutomaticUpstreamTests {
    private func signedIn(_ backend: Backend) async throws -> (rig: Rig, login: Session, source: DeviceCall, call: DeviceCall) {
        let rig = try Rig(backend)
        rig.catalogue.change { configuration in
            for index in configuration.integrations.indices { configuration.integrations[index].autoSignIn = true }
        }
        let source = try await rig.signInByOAuth().call
        let login = try await rig.session(source)
        let call = rig.call(source.accessToken, device: "dev-2")
        let request = StartAutomaticSessionRequest(call: call, logins: [login.reference])
        #expect(try await rig.logins.startAutomaticSession(request, context: rig.context).session?.kind == .automatic)
        return (rig, login, source, call)
    }

    @Test("The session has tokens of its own, which a logout on the login's device leaves alone", arguments: Backend.allCases)
    func outlivesLogout(_ backend: Backend) async throws {
        let (rig, login, source, call) = try await signedIn(backend)
        let session = try await rig.session(call)
        let subject = try await rig.subject(call)
        #expect(subject.upstreamSessionID == session.id && session.id != login.id)
        #expect(try await rig.providerToken(call).accessToken == "access-1")
        #expect(try await rig.logout(source) == 1)
        rig.clock.advance(by: .seconds(600))
        #expect(try await rig.providerToken(call).accessToken == "access-2")
        #expect(rig.provider.calls.compactMap { $0.parameters["refresh_token"] } == ["refresh-1"])
    }

    @Test("They go with the session", arguments: Backend.allCases)
    func endWithSession(_ backend: Backend) async throws {
        let (rig, _, source, call) = try await signedIn(backend)
        let id = try await rig.subject(call).upstreamSessionID
        #expect(try await rig.logout(call) == 1)
        await expectFault(.notFound) { _ = try await rig.sessions.getUpstreamToken(.init(upstreamSessionID: id), context: rig.context) }
        #expect(try await rig.providerToken(source).accessToken == "access-1")
    }

    @Test("Tokens that cannot be opened any more are not taken over: the MVPD's decisions ask for a new sign-in")
    func lostKey() async throws {
        let tokens = ProviderTokenRecord(
            session: SessionID("session-1"), requestor: RequestorID("CHAN7"), mvpd: MvpdID("OpenFiber"), refreshToken: nil, accessToken: [1, 2, 3],
            accessExpiresAt: t0, expiresAt: t0)
        #expect(try tokens.copy(for: Sample.session("session-2"), seal: try OAuthKeys(.random()).seal) == nil)
    }
}
