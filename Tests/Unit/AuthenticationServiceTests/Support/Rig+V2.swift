import Contracts
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The calls of an app of REST v2; the application `old` may make them.
extension Rig {
    func v2Call(_ bearer: String, device: String = "dev-7f3a") -> DeviceCall {
        var call = call(bearer, device: device)
        call.api = .v2
        return call
    }

    func plan(_ call: DeviceCall, mvpd: String = "DemoCable", redirect: String = "https://chan7.example/done") async throws -> SignInPlan {
        let request = BeginSignInRequest(call: call, mvpd: mvpd, domainName: "chan7.example", redirectURL: redirect)
        return try await service.beginSignIn(request, context: context)
    }

    /// - Parameter bearer: Empty: a browser begins.
    func start(planned code: String, bearer: String = "") async throws -> Browser {
        try await start(StartSignInRequest(requestor: "CHAN7", registrationCode: code, accessToken: bearer, api: .v2))
    }

    /// A whole sign-in that the MVPD accepts.
    /// - Returns: The code.
    @discardableResult
    func signIn(planned call: DeviceCall, mvpd: String = "DemoCable", assertion: String = "_assertion-1") async throws -> String {
        let code = try #require(try await plan(call, mvpd: mvpd).code?.code)
        let browser = try await start(planned: code)
        saml.accept(assertion: assertion)
        #expect(try await finish(browser).result == .signedIn)
        return code
    }

    /// rest-v2 §2.6, §2.7.
    func profiles(_ call: DeviceCall, at mvpd: String = "", by copy: AuthenticationClient? = nil) async throws -> [Profile] {
        try await (copy ?? service).findProfiles(FindProfilesRequest(call: call, mvpd: mvpd), context: context).profiles
    }

    /// rest-v2 §2.8.
    func profiles(byCode code: String, _ bearer: String, by copy: AuthenticationClient? = nil) async throws -> [Profile] {
        let request = SessionByCodeRequest(accessToken: bearer, requestor: "CHAN7", code: code, api: .v2)
        return try await (copy ?? service).findProfilesByCode(request, context: context).profiles
    }
}
