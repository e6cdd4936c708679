import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct PartnerSignInTests {
    private func begin(_ rig: PlatformRig) async throws -> SignInPlan {
        var call = rig.rig.call(try await rig.rig.bearer("old"))
        call.api = .v2
        call.device?.osName = "tvOS"
        call.partnerStatus = PartnerStatus(
            access: .granted, providerID: "demo-cable", expiresAtMilliseconds: UInt64((t0 + .seconds(600)).milliseconds))
        let request = BeginSignInRequest(call: call, domainName: "chan7.example", redirectURL: "https://chan7.example/done")
        return try await rig.rig.service.beginPartnerSignIn(request, context: rig.rig.context)
    }

    @Test("rest-v2 §2.12: the platform signs in; where it cannot be set up for that, the app's picker does")
    func fallsBackForConfigurationOnly() async throws {
        let rig = try await PlatformRig()
        let plan = try await begin(rig)
        #expect(plan.step == .partner && plan.verificationToken == "dG9rZW4=")
        rig.rig.catalogue.change { $0.mvpds[0].platforms[0].enablePlatformServices = false }
        let fallback = try await begin(rig)
        #expect(fallback.step != .partner && fallback.reason == .configuration && fallback.code != nil)
    }

    @Test("rest-v2 #116: the platform's provider is an MVPD that is not integrated")
    func isNotIntegrated() async throws {
        let rig = try await PlatformRig()
        rig.rig.catalogue.change { $0.integrations.removeAll { $0.mvpdID == "DemoCable" } }
        await expectFault(.unknownIntegration) { _ = try await begin(rig) }
    }

    @Test(
        "a verification token that cannot be made is the fault that it is, not a matter of the configuration",
        arguments: [Fault.Code.unavailable, .storageFull])
    func tellsFailure(code: Fault.Code) async throws {
        let rig = try await PlatformRig()
        rig.rig.saml.failPlatformRequests(Fault(code, "No token now."))
        await expectFault(code) { _ = try await begin(rig) }
    }
}
