internal import Contracts
internal import Foundation
internal import SamlResponder

/// The calls of REST v2.
extension TestApp {
    static let address = "https://acme.example/done"

    /// - Parameter system: `os_name` of the device.
    func callV2(_ device: String, requestor: String = "ACME1", subjectToken: String = "", system: String = "Linux") -> DeviceCall {
        var call = call(device, requestor: requestor)
        call.api = .v2
        call.subjectToken = subjectToken
        call.device?.osName = system
        return call
    }

    /// The parameters of a sign-in on the device, complete unless told otherwise.
    func plan(
        _ device: String, requestor: String = "ACME1", mvpd: String = TestMvpd.id, domain: String = "acme.example", address: String = address,
        subjectToken: String = ""
    ) async throws -> SignInPlan {
        let request = BeginSignInRequest(
            call: callV2(device, requestor: requestor, subjectToken: subjectToken), mvpd: mvpd, domainName: domain, redirectURL: address)
        return try await conversation.call(AuthenticationMethods.beginSignIn, request)
    }

    /// - Throws: `Unmet` unless the plan has a code.
    func code(of plan: SignInPlan) throws -> String {
        guard let code = plan.code?.code, !code.isEmpty else { throw Unmet("a plan with a code", came: FrameText.text(plan)) }
        return code
    }

    func proceed(_ code: String, requestor: String = "ACME1", mvpd: String = "", domain: String = "", address: String = "") -> ContinueSignInRequest {
        ContinueSignInRequest(accessToken: token, requestor: requestor, code: code, mvpd: mvpd, domainName: domain, redirectURL: address)
    }

    func profiles(on device: String, requestor: String = "ACME1", at mvpd: String = "", subjectToken: String = "") async throws -> [Profile] {
        let call = callV2(device, requestor: requestor, subjectToken: subjectToken)
        return try await conversation.call(AuthenticationMethods.findProfiles, FindProfilesRequest(call: call, mvpd: mvpd)).profiles
    }

    func byCode(_ code: String, requestor: String = "ACME1") -> SessionByCodeRequest {
        SessionByCodeRequest(accessToken: token, requestor: requestor, code: code, api: .v2)
    }

    func profiles(by code: String) async throws -> [Profile] {
        try await conversation.call(AuthenticationMethods.findProfilesByCode, byCode(code)).profiles
    }

    /// - Throws: `Unmet` when the client's device has a profile.
    func requireNoProfile(on device: String, requestor: String = "ACME1", at mvpd: String = "") async throws {
        let profiles = try await profiles(on: device, requestor: requestor, at: mvpd)
        guard profiles.isEmpty else { throw Unmet("no profile", came: FrameText.text(Profiles(profiles: profiles))) }
    }

    func leaving(_ mvpd: String, on device: String, subjectToken: String = "", address: String = address) -> EndProfileRequest {
        EndProfileRequest(call: callV2(device, subjectToken: subjectToken), mvpd: mvpd, redirectURL: address)
    }

    func leave(_ mvpd: String, on device: String, subjectToken: String = "") async throws -> EndedProfile {
        try await conversation.call(AuthenticationMethods.endProfile, leaving(mvpd, on: device, subjectToken: subjectToken))
    }

    /// The browser is sent to the MVPD with what was gathered for the code.
    func open(_ code: String) -> StartSignInRequest {
        StartSignInRequest(requestor: "ACME1", registrationCode: code, clientAddress: "192.0.2.7", api: .v2)
    }
}

extension TestMvpd {
    /// A whole sign-in by REST v2 on the app's device.
    /// - Returns: The code that it went through.
    @discardableResult
    func signInByV2(_ other: TestApp? = nil, on device: String, at mvpd: String = id, subjectToken: String = "") async throws -> String {
        let app = other ?? app
        let code = try app.code(of: try await app.plan(device, mvpd: mvpd, subjectToken: subjectToken))
        try await finish(code, on: device, at: mvpd)
        return code
    }

    /// A person signs in through the code, which lacks nothing.
    func finish(_ code: String, on device: String, at mvpd: String = id) async throws {
        let start = try await app.conversation.call(AuthenticationMethods.startSignIn, app.open(code))
        let pending = try Self.pending(start, device, code)
        let played = mvpd == Self.id ? self.mvpd : neighbour
        let outcome = try await bring(try played.response(to: pending.request, for: Self.subscriber, now: Date()), to: pending)
        guard outcome.result == .signedIn, outcome.redirectURL == TestApp.address else {
            throw Unmet("SIGN_IN_RESULT_SIGNED_IN and redirect_url \(TestApp.address)", came: FrameText.text(outcome))
        }
    }
}
