import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The check of callers of another service (apple §4).
struct CallerTests {
    @Test("A device is told with client, application, programmer and its login", arguments: Backend.allCases)
    func device(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let nobody = try await rig.identify(rig.call("dev-1"))
        #expect(nobody.login == nil && nobody.deviceID == "dev-1" && nobody.requestor == "CHAN7" && nobody.device == Sample.toldDevice)
        #expect(nobody.applicationID == "tv" && nobody.programmerID == "seven" && !nobody.clientID.isEmpty)
        rig.rig.clock.advance(by: .seconds(60))
        let session = try await rig.signIn("dev-1")
        rig.rig.clock.advance(by: .seconds(60))
        let login = try #require(try await rig.identify(rig.call("dev-1")).login)
        #expect(login.session == session && login.session?.kind == .regular)
        #expect(login.authenticatedAtMilliseconds == rig.milliseconds(60) && login.allowsAutoSignIn)
        try await rig.logOut("dev-1")
        #expect(try await rig.identify(rig.call("dev-1")).login == nil)
    }

    @Test("An expired session, or one that the caller may not see, is no login")
    func noLogin() async throws {
        let rig = try await AutomaticRig()
        rig.changeIntegration { $0.authnTtlSeconds = 60 }
        _ = try await rig.signIn("dev-1")
        var other = rig.rig.call(rig.bearer, device: "dev-1")
        other.deviceUser = "other"
        #expect(try await rig.identify(other).login == nil)
        rig.rig.clock.advance(by: .seconds(60))
        #expect(try await rig.identify(rig.call("dev-1")).login == nil)
    }

    @Test("A session that is taken over by the platform's identity is told as such")
    func shared() async throws {
        let rig = try await IdentityRig()
        try await rig.signIn(device: "dev-1", requestor: "CHAN7")
        let request = IdentifyCallerRequest(call: try rig.call(device: "dev-2", requestor: "CHAN8"))
        #expect(try await rig.rig.logins.identifyCaller(request, context: rig.rig.context).login?.session?.kind == .shared)
    }

    @Test("rest-v1 §2.8: bearer, requestor and device are checked as on every call")
    func checks() async throws {
        let rig = try await AutomaticRig()
        let login = try await rig.signIn("dev-1")
        await expectFault(.accessDenied) { _ = try await rig.identify(nil) }
        await expectFault(.accessDenied) { _ = try await rig.identify(rig.rig.call("broken")) }
        await expectFault(.insufficientScope) { _ = try await rig.identify(rig.call("dev-1", requestor: "FOREIGN")) }
        await expectFault(.invalidRequestor) { _ = try await rig.identify(rig.call("dev-1", requestor: "")) }
        await expectFault(.invalidDeviceID) { _ = try await rig.identify(rig.call("")) }
        await expectFault(.insufficientScope) { _ = try await rig.identify(rig.call("dev-1"), scope: "autosignin:owner") }
        await expectFault(.accessDenied) { _ = try await rig.start("dev-2", of: [login], bearer: "broken") }
        await expectFault(.invalidDeviceID) { _ = try await rig.start("", of: [login]) }
        await expectFault(.insufficientScope) { _ = try await rig.start("dev-2", of: [login], requestor: "FOREIGN") }
        let backend = try await rig.rig.bearer("backend")
        await expectFault(.insufficientScope) { _ = try await rig.start("dev-2", of: [login], bearer: backend) }
    }

    @Test("apple §4: an app calls with the scope of either API", arguments: ["api:client:v1", "api:client:v2", "analytics:client"])
    func appScopes(scope: String) async throws {
        let rig = try await AutomaticRig()
        rig.rig.catalogue.change { configuration in
            for index in configuration.applications.indices where configuration.applications[index].id == "tv" {
                configuration.applications[index].scopes = [scope]
            }
        }
        let call = rig.rig.call(try await rig.rig.bearer(), device: "dev-1")
        if scope == "analytics:client" {
            await expectFault(.insufficientScope) { _ = try await rig.identify(call) }
        } else {
            #expect(try await rig.identify(call).applicationID == "tv")
        }
    }

    @Test("apple §4: a programmer's backend needs its scope and a requestor of its own, and has no device")
    func backend() async throws {
        let rig = try await AutomaticRig()
        let bearer = try await rig.rig.bearer("backend")
        func identify(_ bearer: String, requestor: String = "CHAN7", scope: String = "autosignin:owner") async throws -> IdentifiedCaller {
            try await rig.identify(DeviceCall(accessToken: bearer, requestor: requestor), scope: scope, isBackend: true)
        }
        let caller = try await identify(bearer)
        #expect(caller.applicationID == "backend" && caller.programmerID == "seven" && caller.requestor == "CHAN7")
        #expect(caller.deviceID.isEmpty && caller.device == nil && caller.login == nil)
        await expectFault(.insufficientScope) { _ = try await identify(rig.bearer) }
        await expectFault(.insufficientScope) { _ = try await identify(bearer, scope: "") }
        await expectFault(.insufficientScope) { _ = try await identify(bearer, requestor: "CHAN8") }
        await expectFault(.invalidRequestor) { _ = try await identify(bearer, requestor: "") }
        await expectFault(.invalidRequestor) { _ = try await identify(bearer, requestor: "NOBODY") }
        await expectFault(.accessDenied) { _ = try await identify("") }
    }
}
