@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// Decisions, and the trials that they count on.
extension V2Tests {
    @Test(
        "the servers' codes become the SDK's, at a resource and at the top",
        arguments: [
            ("authorization_denied_by_degradation_rule", 403, "Z169", "USER_NOT_AUTHORIZED_ERROR"),
            ("network_connection_timeout", 403, "Z120", "USER_NOT_AUTHORIZED_ERROR"),
            ("authorization_denied_by_parental_controls", 403, "Z100", "USER_NOT_AUTHORIZED_ERROR"),
            ("temporary_access_resources_limit_exceeded", 403, "Z100", "USER_NOT_AUTHORIZED_ERROR"),
            ("temporary_access_duration_limit_exceeded", 403, "N111", "USER_NOT_AUTHENTICATED_ERROR"),
            ("authenticated_profile_missing", 403, "Z100", "USER_NOT_AUTHENTICATED_ERROR"),
            ("authenticated_profile_invalidated", 403, "Z100", "USER_NOT_AUTHENTICATED_ERROR"),
            ("invalid_parameter_resources", 400, "Z130", "GENERIC_AUTHORIZATION_ERROR"),
            ("invalid_header_pfs_permission_access_not_granted", 400, "VSA403", "USER_NOT_AUTHENTICATED_ERROR"),
            ("invalid_header_pfs_provider_info_expired", 400, "N000", "USER_NOT_AUTHENTICATED_ERROR"),
            ("internal_server_error", 500, "Z500", "INTERNAL_AUTHORIZATION_ERROR"),
        ], [true, false])
    func mapsCodes(expected: (code: String, status: Int, advanced: String, error: String), atResource: Bool) async throws {
        let app = try await signedIn()
        let error =
            #"{"action":"none","status":\#(expected.status),"code":"\#(expected.code)","message":"m","helpUrl":"https://h.example","details":"why"}"#
        app.server.always(
            .AUZ,
            atResource
                ? .status(
                    200,
                    #"{"decisions":[{"resource":"NEWS","serviceProvider":"ACME1","mvpd":"plain","source":"mvpd","authorized":false,"error":\#(error)}]}"#
                )
                : .status(expected.status, error))
        try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") }
        #expect(app.codes == [expected.advanced])
        #expect(app.refusals[0].code == expected.error && app.refusals[0].text == "why")
        let endsSession = expected.error == "USER_NOT_AUTHENTICATED_ERROR" && expected.advanced != "VSA403"
        #expect((app.enabler.client.stateStore.token(of: "ACME1") == nil) == endsSession)
    }

    @Test(
        "an answer without a decision, or about another resource, is Z500",
        arguments: [#"{"decisions":[]}"#, #"{"decisions":[{"resource":"SPORT","authorized":true,"token":{"serializedToken":"x"}}]}"#])
    func needsDecision(answer: String) async throws {
        let app = try await signedIn()
        app.server.always(.AUZ, .status(200, answer))
        try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") }
        #expect(app.codes == ["Z500"])
    }

    @Test("a permission without the provider is Z010, whatever the session is")
    func tellsDegradedDecision() async throws {
        let app = try await signedIn()
        app.server.change { $0.degraded = ["plain"] }
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["status(Z010)", "setToken(NEWS)"])
    }

    @Test("preauthorize: an item's error has the SDK's name, and a lost session is the whole answer's")
    func namesItemErrors() async throws {
        let app = try await signedIn()
        app.server.change { $0.permits = ["NEWS"] }
        let client = app.enabler.client
        let decisions = try await client.preauthorize(["NEWS", "SPORT"])
        #expect(decisions.map(\.isAuthorized) == [true, false])
        #expect(decisions[1].status?.code == "preauthorization_denied_by_mvpd" && decisions[1].status?.status == 403)
        #expect(decisions[1].status?.details == "Not in your package")
        app.server.change { $0.session = nil }
        try await app.until("onResponse") { app.enabler.preauthorize(ClientPreauthorizeRequest(resources: ["A", "B"]), callback: app) }
        #expect(app.decisions[0].decisions.isEmpty && app.decisions[0].status?.code == "authentication_session_missing")
        #expect(app.decisions[0].status?.action == .authentication && app.codes.last == "P100")
    }

    // MARK: - Trials

    @Test("client-sdk #83: a promotional TempPass is told who the person is, at each call and after a restart")
    func namesPersonOfTrial() async throws {
        let app = try await configured()
        app.server.change { $0.promotional = ["trial"] }
        app.whenDisplayed = { $0.enabler.setSelectedProvider("trial") }
        #expect(try await app.signIn(data: ["email": "abc/1"]) == ["displayProviderDialog", LoginTests.yes])
        app.relaunch()
        try await app.configure()
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["status(Z011)", "setToken(NEWS)"])
        try await app.until("preauthorizedResources") { app.enabler.checkPreauthorizedResources(["NEWS"]) }
        for call in app.server.calls where [.AUZ, .PRE].contains(call.name) {
            #expect(FakeServer.identity(call) == #"{"email":"abc/1"}"#)
        }
        try await app.logout()
        #expect(try await app.signIn() == ["displayProviderDialog", LoginTests.failed])
    }

    @Test("the time of a trial runs from the first permission on")
    func countsFromFirstPermission() async throws {
        let app = try await configured()
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("trial") }
        app.clock.advance(500)
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        app.clock.advance(500)
        #expect(try await app.check() == ["status(N011)", LoginTests.yes])
        app.clock.advance(101)
        #expect(try await app.check() == ["status(N111)", Self.no])
    }

    @Test("a trial that is used up is N111", arguments: ["temporary_access_duration_limit_exceeded", "temporary_access_resources_limit_exceeded"])
    func tellsUsedUpTrial(code: String) async throws {
        let app = try await configured()
        app.server.change { $0.usedUp = ["trial": code] }
        #expect(try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("trial") } == ["status(N111)", LoginTests.failed])
    }
}
