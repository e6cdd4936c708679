internal import Contracts
internal import Foundation
internal import SamlResponder

extension AuthenticationRequirements {
    static let mvpdSessions = [
        Requirement(
            "AUTHN-44", "A platform's answer to a profile request becomes a session of kind PLATFORM; a forged one is refused, and none.",
            source: "authentication.proto CreateProfileRequest, ExchangePlatformProfile"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let request = CreateProfileRequestRequest(
                    accessToken: mvpd.app.token, requestor: "ACME1", mvpd: TestMvpd.id, deviceType: "tvOS")
                let device = TestApp.device()
                func exchange(_ make: (AuthnRequestFacts) throws -> String) async throws -> ExchangePlatformProfileRequest {
                    let profile = try await mvpd.app.conversation.call(AuthenticationMethods.createProfileRequest, request)
                    guard let facts = AuthnRequestFacts(profileRequest: profile.verificationToken) else {
                        throw Unmet("a verification_token that is Base64 of a SAML AuthnRequest", came: profile.verificationToken)
                    }
                    var call = mvpd.app.call(device)
                    call.deviceType = "tvOS"
                    return ExchangePlatformProfileRequest(
                        call: call, mvpd: TestMvpd.id, samlResponse: Data(try make(facts).utf8).base64EncodedString())
                }
                for forge in TestMvpd.forgeries {
                    let forged = try await exchange { try forge(mvpd, $0) }
                    if case .answer(let session) = try await mvpd.app.conversation.outcome(
                        of: AuthenticationMethods.exchangePlatformProfile, forged)
                    {
                        throw Unmet("a fault for an answer that is forged", came: FrameText.text(session))
                    }
                    try await mvpd.app.conversation.refusal(
                        of: AuthenticationMethods.getSession, SessionRequest(call: mvpd.app.call(device)), codes: ["authentication_session_missing"])
                }
                let genuine = try await exchange { try mvpd.mvpd.response(to: $0, for: TestMvpd.subscriber, now: Date()) }
                let session = try await mvpd.app.conversation.call(AuthenticationMethods.exchangePlatformProfile, genuine)
                guard session.kind == .platform, session.mvpd == TestMvpd.id, session.requestor == "ACME1" else {
                    throw Unmet("a session of kind PLATFORM at \(TestMvpd.id) for ACME1", came: FrameText.text(session))
                }
                let seen = try await examination.greet().call(AuthenticationMethods.getSession, SessionRequest(call: mvpd.app.call(device)))
                guard seen == session else { throw Unmet(FrameText.text(session), came: FrameText.text(seen)) }
            }
        },
        Requirement(
            "AUTHN-45", "Logout in a browser ends the session at once, and leads to the MVPD with a request to end its own.",
            source: "authentication.proto LogoutResponse.visit_url, VisitLogout, config.proto SamlEndpoint.logout_url"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let pending = try await mvpd.signIn().pending
                let logout = LogoutRequest(call: mvpd.app.call(pending.device), hasBrowser: true, redirectURL: "https://acme.example/done")
                let answer = try await mvpd.app.conversation.call(AuthenticationMethods.logout, logout)
                guard answer.ended == 1 else { throw Unmet("ended 1", came: FrameText.text(answer)) }
                try await mvpd.app.conversation.refusal(
                    of: AuthenticationMethods.getSession, SessionRequest(call: mvpd.app.call(pending.device)),
                    codes: ["authentication_session_missing"])
                guard let handle = URLComponents(string: answer.visitURL)?.queryItems?.first(where: { $0.name == "handle" })?.value else {
                    throw Unmet("a visit_url with a handle", came: FrameText.text(answer))
                }
                let step = try await mvpd.app.conversation.call(AuthenticationMethods.visitLogout, VisitLogoutRequest(handle: handle))
                guard step.result == .goesOn, step.url.hasPrefix("\(TestMvpd.address)/slo"),
                    step.url.contains("SAMLRequest=") || step.fields.contains(where: { $0.name == "SAMLRequest" })
                else { throw Unmet("LOGOUT_RESULT_GOES_ON to \(TestMvpd.address)/slo with a SAMLRequest", came: FrameText.text(step)) }
                let message = SamlLogoutMessage(samlResponse: "bm8gcmVzcG9uc2U=")
                let forged = try await mvpd.app.conversation.call(AuthenticationMethods.receiveSamlLogout, message)
                guard forged.result == .rejected else { throw Unmet("LOGOUT_RESULT_REJECTED for what is no answer", came: FrameText.text(forged)) }
            }
        },
        Requirement(
            "AUTHN-46",
            "A live login serves Automatic Sign-In: FindLiveLogins finds it, StartAutomaticSession makes a session of kind AUTOMATIC on another device, EndAutomaticSessions ends that one and not the login.",
            source: "authentication.proto Logins"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (pending, session) = try await mvpd.signIn()
                let conversation = mvpd.app.conversation
                let logins = [LoginReference(mvpd: TestMvpd.id, userID: session.userID)]
                let live = try await conversation.call(LoginsMethods.findLiveLogins, FindLiveLoginsRequest(requestor: "ACME1", logins: logins))
                guard live.logins.count == 1 else { throw Unmet("one login", came: FrameText.text(live)) }
                let device = TestApp.device()
                let started = try await conversation.call(
                    LoginsMethods.startAutomaticSession, StartAutomaticSessionRequest(call: mvpd.app.call(device), logins: logins))
                guard let automatic = started.session, automatic.kind == .automatic, automatic.userID == session.userID else {
                    throw Unmet("a session of kind AUTOMATIC of user \(session.userID)", came: FrameText.text(started))
                }
                let seen = SessionRequest(call: mvpd.app.call(device))
                try await conversation.call(AuthenticationMethods.getSession, seen)
                let ended = try await conversation.call(
                    LoginsMethods.endAutomaticSessions, EndAutomaticSessionsRequest(sessionIDs: [automatic.id, session.id])
                ).ended
                guard ended == 1 else { throw Unmet("ended 1: the automatic one alone", came: "\(ended)") }
                try await conversation.refusal(of: AuthenticationMethods.getSession, seen, codes: ["authentication_session_missing"])
                guard try await mvpd.session(of: pending) == session else { throw Unmet("the login as it was", came: "another session") }
            }
        },
    ]
}
