import Catalogue
import Clocks
import Contracts
import Cryptography
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Records from the time when another programmer had a requestor's id (decision 0090).
struct FormerOwnerTests {
    /// Another programmer gets the id a second from now.
    private func giveAway(_ rig: Rig, mvpd: String? = nil) {
        rig.clock.advance(by: .seconds(1))
        let now = UInt64(clamping: rig.clock.now().milliseconds)
        rig.catalogue.change { configuration in
            for index in configuration.requestors.indices where mvpd == nil && configuration.requestors[index].id == "CHAN7" {
                configuration.requestors[index].sinceMilliseconds = now
            }
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == mvpd {
                configuration.mvpds[index].sinceMilliseconds = now
            }
        }
    }

    @Test(
        "no session of the former programmer is told: not to its device, by its code, to support or at a logout; a new one is",
        arguments: Backend.allCases)
    func sessions(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let code = try await rig.signIn(call).code
        #expect(try await rig.session(call).mvpd == "DemoCable")
        giveAway(rig)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        await expectFault(.invalidRegistrationCode) { _ = try await rig.session(byCode: code) }
        for viewer in [FindViewerSessionsRequest.Viewer.deviceID("dev-7f3a"), .code(code)] {
            let found = try await rig.operations.findViewerSessions(
                FindViewerSessionsRequest(requestor: "CHAN7", viewer: viewer), context: rig.context)
            #expect(found.sessions.isEmpty && found.code == nil)
        }
        #expect(try await rig.logout(call) == 0)
        try await rig.signIn(call, assertion: "_assertion-2")
        #expect(try await rig.session(call).mvpd == "DemoCable")
    }

    @Test("a sign-in that was under way makes no session of the new programmer's", arguments: Backend.allCases)
    func underWay(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let browser = try await rig.start(try await rig.code(call).code)
        giveAway(rig)
        rig.saml.accept()
        #expect(try await rig.finish(browser).result != .signedIn)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
    }

    @Test("an MVPD that is another one by now has none of the former one's sessions", arguments: Backend.allCases)
    func mvpds(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.signIn(call)
        giveAway(rig, mvpd: "OtherCable")
        #expect(try await rig.session(call).mvpd == "DemoCable")
        giveAway(rig, mvpd: "DemoCable")
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
    }

    @Test(
        "a trial that was used up at the former programmer's is a new one, once; a reset tells of the new programmer's alone",
        arguments: Backend.allCases)
    func trials(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.preview(call)
        try await rig.play("A", call)
        rig.clock.advance(by: .seconds(700))
        await expectFault(.invalidRequest) { try await rig.preview(call) }
        giveAway(rig)
        try await rig.preview(call)
        try await rig.play("A", call)
        rig.clock.advance(by: .seconds(700))
        await expectFault(.invalidRequest) { try await rig.preview(call) }
        let other = rig.call(try await rig.bearer(), device: "dev-other")
        try await rig.preview(other)
        try await rig.play("A", other)
        giveAway(rig)
        let reset = ResetTempPassRequest(requestor: "CHAN7", mvpd: "Preview10", scope: .deviceID("all"))
        #expect(try await rig.operations.resetTempPass(reset, context: rig.context).trials == 0)
    }

    @Test("clients of a listed statement, and tokens of an imported client, are not those of a programmer who lists it later")
    func clients() async throws {
        let rig = try Rig(.sqlite)
        let statement = "eyJhbGciOiJSUzI1NiJ9.eyJzb2Z0d2FyZV9pZCI6IngifQ.c2lnbmF0dXJl"
        rig.catalogue.change {
            $0.applications[0].legacyStatements = [Hex.encode(SHA256.hash(statement))]
            $0.applications[0].clients = [ImportedClient(clientID: "old-app", secretReference: "own")]
        }
        func register() async throws -> RegisteredClient {
            try await rig.service.registerClient(RegisterClientRequest(softwareStatement: statement), context: rig.context)
        }
        func imported() async throws -> String {
            let request = IssueAccessTokenRequest(clientID: "old-app", clientSecret: "0wn", grantType: "client_credentials")
            return try await rig.service.issueAccessToken(request, context: rig.context).accessToken
        }
        func verify(_ bearer: String) async throws {
            _ = try await rig.service.verifyAccessToken(VerifyAccessTokenRequest(accessToken: bearer), context: rig.context)
        }
        let client = try await register()
        let (bearer, shared) = (try await rig.token(of: client).accessToken, try await imported())
        try await verify(bearer)
        try await verify(shared)
        // At another application, of another programmer.
        rig.clock.advance(by: .seconds(2))
        rig.catalogue.change {
            ($0.applications[3].legacyStatements, $0.applications[3].clients) = ($0.applications[0].legacyStatements, $0.applications[0].clients)
            ($0.applications[0].legacyStatements, $0.applications[0].clients) = ([], [])
            let now = UInt64(clamping: rig.clock.now().milliseconds)
            $0.applications[3].legacySinceMilliseconds = [now]
            $0.applications[3].clients[0].sinceMilliseconds = now
        }
        for former in [bearer, shared] { await expectFault(.invalidClient) { try await verify(former) } }
        await expectFault(.invalidClient) { _ = try await rig.token(of: client) }
        try await verify(try await rig.token(of: try await register()).accessToken)
        try await verify(try await imported())
    }
}
