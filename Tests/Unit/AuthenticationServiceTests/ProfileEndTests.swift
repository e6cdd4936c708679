import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// When profiles of REST v2 are none any more.
struct ProfileEndTests {
    private func signedIn(_ backend: Backend) async throws -> (rig: Rig, call: DeviceCall, client: RegisteredClient) {
        let rig = try Rig(backend)
        let client = try await rig.register("old")
        let call = rig.v2Call(try await rig.token(of: client).accessToken)
        try await rig.signIn(planned: call)
        return (rig, call, client)
    }

    private func decide(_ rig: Rig, _ call: DeviceCall) async throws -> SessionSubject {
        try await rig.sessions.findSession(SessionRequest(call: call, mvpd: "DemoCable"), context: rig.context)
    }

    @Test("rest-v2 §2.2: who has a profile is told so when another session begins, until it is over")
    func isSignedIn() async throws {
        let (rig, call, client) = try await signedIn(.sqlite)
        #expect(try await rig.plan(call).reason == .authenticated)
        rig.clock.advance(by: .seconds(400 * 86_400))
        #expect(try await rig.plan(rig.v2Call(try await rig.token(of: client).accessToken)).reason != .authenticated)
    }

    @Test("rest-v2 #60: a profile that is over is told no more, and decides nothing", arguments: Backend.allCases)
    func isOver(_ backend: Backend) async throws {
        let (rig, call, client) = try await signedIn(backend)
        #expect(try await rig.profiles(call).count == 1)
        let end = try #require(try await rig.profiles(call).first?.session?.expiresAtMilliseconds)
        rig.clock.advance(by: Timestamp(milliseconds: Int64(end)) - rig.clock.now())
        let late = rig.v2Call(try await rig.token(of: client).accessToken)
        #expect(try await rig.profiles(late).isEmpty)
        #expect(try await rig.profiles(late, at: "DemoCable").isEmpty)
        await expectFault(.authenticationSessionExpired) { _ = try await decide(rig, late) }
    }

    @Test("rest-v2 #80, #112: while the integration is switched off there is no profile; it comes back with it", arguments: Backend.allCases)
    func isSwitchedOff(_ backend: Backend) async throws {
        let (rig, call, _) = try await signedIn(backend)
        func set(_ isEnabled: Bool) {
            rig.catalogue.change { configuration in
                for index in configuration.integrations.indices where configuration.integrations[index].mvpdID == "DemoCable" {
                    configuration.integrations[index].enabled = isEnabled
                }
            }
        }
        set(false)
        #expect(try await rig.profiles(call).isEmpty)
        await expectFault(.unknownIntegration) { _ = try await rig.profiles(call, at: "DemoCable") }
        await expectFault(.unknownIntegration) { _ = try await decide(rig, call) }
        set(true)
        #expect(try await rig.profiles(call).count == 1)
        #expect(try await decide(rig, call).session?.mvpd == "DemoCable")
    }

    @Test("rest-v2 #49, #53: a trial that is over, and one that nobody can hold, are refused as such", arguments: Backend.allCases)
    func isSpent(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let client = try await rig.register("old")
        let call = rig.v2Call(try await rig.token(of: client).accessToken)
        let first = SpendTempPassRequest(deviceID: call.deviceID, requestor: call.requestor, resource: "ONE", mvpd: "Preview10")
        _ = try await rig.sessions.spendTempPass(first, context: rig.context)
        #expect(try await rig.profiles(call, at: "Preview10").map(\.session?.kind) == [.tempPass])
        rig.clock.advance(by: .seconds(600))
        await expectFault(.temporaryAccessDurationLimitExceeded) { _ = try await rig.profiles(call, at: "Preview10") }
        rig.catalogue.change { configuration in
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == "Preview10" {
                configuration.mvpds[index].signIn = .tempPass(TempPass(kind: .promotional, ttlSeconds: 600))
            }
        }
        await expectFault(.invalidTemporaryAccessConfiguration) { _ = try await rig.profiles(call, at: "Preview10") }
    }
}
