internal import Contracts
internal import Foundation
internal import SamlResponder

extension AuthenticationRequirements {
    static let peers = [
        Requirement(
            "AUTHN-30", "FindSessionByCode tells the session that was made through the code; of another code there is none.",
            source: "authentication.proto FindSessionByCode"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let code = try await app.code(device).code
            try await app.conversation.call(AuthenticationMethods.startSignIn, app.startSignIn(code, mvpd: "Preview10"))
            let subject = try await app.conversation.call(
                SessionsMethods.findSessionByCode, SessionByCodeRequest(requestor: "ACME1", code: code))
            guard subject.deviceID == device, subject.session?.mvpd == "Preview10" else {
                throw Unmet("the device's session", came: FrameText.text(subject))
            }
            try await app.conversation.refusal(
                of: SessionsMethods.findSessionByCode, SessionByCodeRequest(requestor: "ACME1", code: "NOTHING"),
                codes: ["authentication_session_missing", "invalid_registration_code"])
        },
        Requirement(
            "AUTHN-100",
            "FindSessionToPlay tells what FindSession does, and no decision about a session of no upstream. A service without it answers `unimplemented`.",
            source: "authentication.proto FindSessionToPlay"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let (method, session) = (SessionsMethods.findSessionToPlay, SessionRequest(call: app.call(device)))
            let request = SessionToPlayRequest(session: session, resource: "ACME1-NEWS")
            switch try await app.conversation.outcome(of: method, request) {
            case .fault(let fault) where fault.code == "unimplemented": return
            case .fault(let fault) where fault.code == "authentication_session_missing": break
            case .fault(let fault): throw Unmet("authentication_session_missing", came: FrameText.text(fault))
            case .answer(let answer): throw Unmet("authentication_session_missing", came: FrameText.text(answer))
            }
            _ = try await app.preview(device)
            let subject = try await app.conversation.call(SessionsMethods.findSession, session)
            let found = try await app.conversation.call(method, request)
            guard found.subject == subject, found.decisions == nil, found.fault == nil else {
                throw Unmet("the session alone: \(FrameText.text(subject))", came: FrameText.text(found))
            }
        },
        Requirement(
            "AUTHN-31", "SpendTempPass starts the clock of a trial with the first play; the end stays where it is afterwards.",
            source: "authentication.proto SpendTempPass, TempPassBalance"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let session = try await app.preview(device)
            let request = SpendTempPassRequest(sessionID: session.id, deviceID: device, requestor: "ACME1", resource: "ACME1-NEWS")
            let first = try await app.conversation.call(SessionsMethods.spendTempPass, request)
            let second = try await app.conversation.call(SessionsMethods.spendTempPass, request)
            guard first.expiresAtMilliseconds > session.createdAtMilliseconds, second.expiresAtMilliseconds == first.expiresAtMilliseconds else {
                throw Unmet("one end for both plays", came: "\(first.expiresAtMilliseconds), then \(second.expiresAtMilliseconds)")
            }
            let unknown = SpendTempPassRequest(sessionID: "nothing", deviceID: device, requestor: "ACME1", resource: "ACME1-NEWS")
            try await app.conversation.refusal(of: SessionsMethods.spendTempPass, unknown, codes: ["authentication_session_missing"])
        },
        Requirement(
            "AUTHN-32", "ResetTempPass forgets the trials of a device and says how many; an MVPD that is no TempPass is `invalid_request`.",
            source: "authentication.proto AuthenticationOperations.ResetTempPass"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let session = try await app.preview(device)
            try await app.conversation.call(
                SessionsMethods.spendTempPass,
                SpendTempPassRequest(sessionID: session.id, deviceID: device, requestor: "ACME1", resource: "ACME1-NEWS"))
            let method = AuthenticationOperationsMethods.resetTempPass
            let request = ResetTempPassRequest(requestor: "ACME1", mvpd: "Preview10", scope: .deviceID(device))
            let counts = [try await app.conversation.call(method, request).trials, try await app.conversation.call(method, request).trials]
            guard counts == [1, 0] else { throw Unmet("trials 1, then 0", came: "\(counts)") }
            try await app.conversation.refusal(of: method, ResetTempPassRequest(requestor: "ACME1", mvpd: "NorthCable"), codes: ["invalid_request"])
        },
        Requirement(
            "AUTHN-33", "UpdateAttributes of a session that is gone changes nothing.", source: "authentication.proto UpdateAttributesResponse.changed"
        ) { examination in
            let conversation = try await examination.greet()
            let request = UpdateAttributesRequest(
                sessionID: "nothing", deviceID: TestApp.device(), requestor: "ACME1", attributes: [UserAttribute(key: "zip", values: ["1"])])
            guard try await !conversation.call(SessionsMethods.updateAttributes, request).changed else { throw Unmet("changed false", came: "true") }
        },
        Requirement(
            "AUTHN-34", "IdentifyCaller tells client, application, programmer and device of a call, and the login when there is one.",
            source: "authentication.proto IdentifyCaller, IdentifiedCaller"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let method = LoginsMethods.identifyCaller
            let caller = try await app.conversation.call(method, IdentifyCallerRequest(call: app.call(device)))
            guard caller.clientID == app.client.clientID, caller.applicationID == "acme-tv", caller.programmerID == "acme",
                caller.requestor == "ACME1",
                caller.deviceID == device, caller.login == nil
            else { throw Unmet("client, acme-tv, acme, ACME1, the device and no login", came: FrameText.text(caller)) }
            let session = try await app.preview(device)
            let again = try await app.conversation.call(method, IdentifyCallerRequest(call: app.call(device)))
            guard again.login?.session == session else { throw Unmet("a login with the device's session", came: FrameText.text(again)) }
        },
        Requirement(
            "AUTHN-35", "IdentifyCaller refuses a bearer without the scope that is asked for (`insufficient_scope`); a backend has no device.",
            source: "authentication.proto IdentifyCallerRequest"
        ) { examination in
            let app = try await TestApp(examination)
            let request = IdentifyCallerRequest(call: app.call(TestApp.device()), scope: "autosignin:owner", isBackend: true)
            try await app.conversation.refusal(of: LoginsMethods.identifyCaller, request, codes: ["insufficient_scope"])
            let backend = try await TestApp(examination, application: "acme-backend")
            let call = DeviceCall(accessToken: backend.token, requestor: "ACME1")
            let caller = try await backend.conversation.call(
                LoginsMethods.identifyCaller, IdentifyCallerRequest(call: call, scope: "autosignin:owner", isBackend: true))
            guard caller.deviceID.isEmpty, caller.login == nil, caller.programmerID == "acme" else {
                throw Unmet("a caller of acme without a device", came: FrameText.text(caller))
            }
        },
        Requirement(
            "AUTHN-36",
            "Logins that nobody has serve nobody: FindLiveLogins leaves them out, StartAutomaticSession is refused (`subscription_required`), EndAutomaticSessions ends none.",
            source: "authentication.proto Logins"
        ) { examination in
            let app = try await TestApp(examination)
            let logins = [LoginReference(mvpd: "NorthCable", userID: String(repeating: "0", count: 64))]
            let live = try await app.conversation.call(LoginsMethods.findLiveLogins, FindLiveLoginsRequest(requestor: "ACME1", logins: logins))
            guard live.logins.isEmpty else { throw Unmet("no login", came: FrameText.text(live)) }
            let start = StartAutomaticSessionRequest(call: app.call(TestApp.device()), logins: logins)
            try await app.conversation.refusal(of: LoginsMethods.startAutomaticSession, start, codes: ["subscription_required"])
            let ended = try await app.conversation.call(
                LoginsMethods.endAutomaticSessions, EndAutomaticSessionsRequest(sessionIDs: ["nothing"])
            ).ended
            guard ended == 0 else { throw Unmet("ended 0", came: "\(ended)") }
        },
    ]
}

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
