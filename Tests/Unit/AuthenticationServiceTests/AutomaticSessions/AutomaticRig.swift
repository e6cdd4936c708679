import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A rig with integrations that allow Automatic Sign-In, and people with several devices.
struct AutomaticRig {
    let rig: Rig
    let bearer: String

    init(_ backend: Backend = .sqlite) async throws {
        rig = try Rig(backend)
        rig.catalogue.change { configuration in
            for index in configuration.integrations.indices { configuration.integrations[index].autoSignIn = true }
        }
        bearer = try await rig.bearer()
    }

    func call(_ device: String, requestor: String = "CHAN7") -> DeviceCall { rig.call(bearer, requestor: requestor, device: device) }

    /// A person signs in on a device.
    @discardableResult
    func signIn(
        _ device: String, user: String = "ada", requestor: String = "CHAN7", mvpd: String = "DemoCable", sessionEnd: Timestamp? = nil
    ) async throws -> Session {
        let call = call(device, requestor: requestor)
        let code = try await rig.code(call)
        let browser = try await rig.start(code.code, requestor: requestor, mvpd: mvpd, redirect: "https://\(requestor.lowercased()).example/done")
        rig.saml.accept(user: user, assertion: "_\(code.id)", sessionEnd: sessionEnd)
        #expect(try await rig.finish(browser).result == .signedIn)
        return try await rig.session(call)
    }

    /// Automatic Sign-In on a device.
    func start(_ device: String, of logins: [Session], requestor: String = "CHAN7", bearer: String? = nil) async throws -> AutomaticSession {
        var call = call(device, requestor: requestor)
        if let bearer { call.accessToken = bearer }
        let request = StartAutomaticSessionRequest(call: call, logins: logins.map(\.reference))
        return try await rig.logins.startAutomaticSession(request, context: rig.context)
    }

    func started(_ device: String, of logins: Session..., requestor: String = "CHAN7") async throws -> Session {
        try #require(try await start(device, of: logins, requestor: requestor).session)
    }

    func liveLogins(_ logins: Session..., requestor: String = "CHAN7") async throws -> [LoginReference] {
        let request = FindLiveLoginsRequest(requestor: requestor, logins: logins.map(\.reference))
        return try await rig.logins.findLiveLogins(request, context: rig.context).logins
    }

    func end(_ sessions: [String]) async throws -> UInt32 {
        try await rig.logins.endAutomaticSessions(EndAutomaticSessionsRequest(sessionIDs: sessions), context: rig.context).ended
    }

    func identify(_ call: DeviceCall?, scope: String = "", isBackend: Bool = false) async throws -> IdentifiedCaller {
        try await rig.logins.identifyCaller(IdentifyCallerRequest(call: call, scope: scope, isBackend: isBackend), context: rig.context)
    }

    func session(_ device: String, requestor: String = "CHAN7") async throws -> Session {
        try await rig.session(call(device, requestor: requestor))
    }

    func logOut(_ device: String) async throws { #expect(try await rig.logout(call(device)) == 1) }

    /// The MVPD ends a person's sessions by itself (mvpd §2.7).
    func mvpdLogsOut(_ user: String = "ada", index: String = "index-1") async throws {
        let logout = MvpdLogout(
            replay: .init(issuer: "https://idp.example", assertionID: "_logout", expiresAt: rig.clock.now() + .seconds(600)),
            mvpds: [MvpdID("DemoCable")], name: Sample.subject(user).name, sessionIndexes: [index])
        _ = try await rig.store.end(logout, now: rig.clock.now())
    }

    /// The record of CHAN7 and DemoCable.
    func changeIntegration(_ change: @escaping (inout Integration) -> Void) {
        rig.catalogue.change { change(&$0.integrations[0]) }
    }

    func milliseconds(_ seconds: Int64) -> UInt64 { UInt64((t0 + .seconds(seconds)).milliseconds) }
}

extension Session {
    var reference: LoginReference { LoginReference(mvpd: mvpd, userID: userID) }
}
