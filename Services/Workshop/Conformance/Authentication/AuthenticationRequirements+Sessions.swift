internal import Contracts

extension AuthenticationRequirements {
    static let sessions = [
        Requirement(
            "AUTHN-15", "A device without a session is told so: `authentication_session_missing`.",
            source: "authentication.proto GetSession, FindSession"
        ) {
            examination in
            let app = try await TestApp(examination)
            let request = SessionRequest(call: app.call(TestApp.device()))
            try await app.conversation.refusal(of: AuthenticationMethods.getSession, request, codes: ["authentication_session_missing"])
            try await app.conversation.refusal(of: SessionsMethods.findSession, request, codes: ["authentication_session_missing"])
            try await app.conversation.refusal(of: AuthenticationMethods.getUserMetadata, request, codes: ["authentication_session_missing"])
        },
        Requirement(
            "AUTHN-16", "StartFreePreview gives a device a session of kind TEMP_PASS, which every connection then sees.",
            source: "authentication.proto StartFreePreview, Session"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let session = try await app.preview(device)
            guard session.kind == .tempPass, session.requestor == "ACME1", session.mvpd == "Preview10",
                session.expiresAtMilliseconds > session.createdAtMilliseconds
            else { throw Unmet("a session of kind TEMP_PASS at Preview10 for ACME1", came: FrameText.text(session)) }
            guard session.userID.hasPrefix("temppass_"), session.userID.count > 9 else {
                throw Unmet("a user_id that begins with `temppass_`", came: session.userID)
            }
            let seen = try await examination.greet().call(AuthenticationMethods.getSession, SessionRequest(call: app.call(device)))
            guard seen == session else { throw Unmet(FrameText.text(session), came: FrameText.text(seen)) }
        },
        Requirement(
            "AUTHN-17",
            "StartFreePreview refuses what is no TempPass (`invalid_request`), not integrated (`unknown_integration`) or of another domain (`invalid_domain`).",
            source: "authentication.proto StartFreePreview"
        ) { examination in
            let app = try await TestApp(examination)
            let call = app.call(TestApp.device())
            let cases = [
                ("NorthCable", "acme.example", "invalid_request"), ("", "acme.example", "invalid_request"),
                ("Nowhere", "acme.example", "unknown_integration"),
                ("Preview10", "bravo.example", "invalid_domain"),
            ]
            for (mvpd, domain, code) in cases {
                let request = StartFreePreviewRequest(call: call, mvpd: mvpd, domainName: domain)
                try await app.conversation.refusal(of: AuthenticationMethods.startFreePreview, request, codes: [code])
            }
        },
        Requirement("AUTHN-18", "A session is one device's at one requestor.", source: "authentication.proto Session") { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            try await app.preview(device)
            for call in [app.call(TestApp.device()), app.call(device, requestor: "ACME2")] {
                try await app.conversation.refusal(
                    of: AuthenticationMethods.getSession, SessionRequest(call: call), codes: ["authentication_session_missing"])
            }
        },
        Requirement("AUTHN-19", "FindSession tells the session with its device and its client.", source: "authentication.proto SessionSubject") {
            examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let session = try await app.preview(device)
            let subject = try await app.conversation.call(SessionsMethods.findSession, SessionRequest(call: app.call(device)))
            guard subject.session == session, subject.deviceID == device, subject.clientID == app.client.clientID else {
                throw Unmet("session, device_id and client_id of the preview", came: FrameText.text(subject))
            }
        },
        Requirement(
            "AUTHN-20", "Logout ends the device's session at the requestor, at once and for every caller.", source: "authentication.proto Logout"
        ) {
            examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            try await app.preview(device)
            try await app.preview(device, requestor: "ACME2")
            let ended = try await app.conversation.call(AuthenticationMethods.logout, LogoutRequest(call: app.call(device))).ended
            guard ended == 1 else { throw Unmet("ended 1", came: "\(ended)") }
            let other = try await examination.greet()
            let request = SessionRequest(call: app.call(device))
            try await other.refusal(of: SessionsMethods.findSession, request, codes: ["authentication_session_missing"])
            try await other.refusal(of: AuthenticationMethods.getSession, request, codes: ["authentication_session_missing"])
            try await other.call(AuthenticationMethods.getSession, SessionRequest(call: app.call(device, requestor: "ACME2")))
        },
        Requirement(
            "AUTHN-21",
            "Logout without a requestor ends the sessions at every requestor of the application; one that has ended is not counted again.",
            source: "authentication.proto LogoutRequest.call"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            try await app.preview(device)
            try await app.preview(device, requestor: "ACME2")
            let request = LogoutRequest(call: app.call(device, requestor: ""))
            let counts = [
                try await app.conversation.call(AuthenticationMethods.logout, request).ended,
                try await app.conversation.call(AuthenticationMethods.logout, request).ended,
            ]
            guard counts == [2, 0] else { throw Unmet("ended 2, then 0", came: "\(counts)") }
        },
        Requirement("AUTHN-22", "GetUserMetadata answers for a session.", source: "authentication.proto GetUserMetadata") { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            try await app.preview(device)
            let metadata = try await app.conversation.call(AuthenticationMethods.getUserMetadata, SessionRequest(call: app.call(device)))
            guard metadata.updatedAtSeconds > 1_000_000_000 else { throw Unmet("updated_at_s", came: FrameText.text(metadata)) }
        },
    ]

    static let signIns = [
        Requirement(
            "AUTHN-23",
            "A sign-in through a code at a TempPass ends at once: the browser goes to redirect_url, the code is used, its device has a session.",
            source: "authentication.proto StartSignIn, GetSessionByCode, GetOwnSessionByCode, RegistrationCode.used"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let code = try await app.code(device).code
            let byCode = SessionByCodeRequest(requestor: "ACME1", code: code)
            try await app.conversation.refusal(of: AuthenticationMethods.getSessionByCode, byCode, codes: ["authentication_session_missing"])
            let request = app.startSignIn(code, mvpd: "Preview10")
            let start = try await app.conversation.call(AuthenticationMethods.startSignIn, request)
            guard start.url == request.redirectURL, start.fields.isEmpty else {
                throw Unmet("url \(request.redirectURL)", came: FrameText.text(start))
            }
            let session = try await app.conversation.call(AuthenticationMethods.getSessionByCode, byCode)
            let own = try await app.conversation.call(AuthenticationMethods.getSession, SessionRequest(call: app.call(device)))
            guard session == own else { throw Unmet("the device's session", came: FrameText.text(session)) }
            let ownByCode = SessionByCodeRequest(accessToken: app.token, requestor: "ACME1", code: code)
            guard try await app.conversation.call(AuthenticationMethods.getOwnSessionByCode, ownByCode) == session else {
                throw Unmet("the same to the code's maker", came: "another")
            }
            var another = ownByCode
            another.accessToken = try await TestApp(examination).token
            try await app.conversation.refusal(of: AuthenticationMethods.getOwnSessionByCode, another, codes: ["invalid_registration_code"])
            let used: Set = ["invalid_registration_code", "registration_code_spent"]
            try await app.conversation.refusal(
                of: AuthenticationMethods.getRegistrationCode, RegistrationCodeRequest(requestor: "ACME1", code: code), codes: used)
            try await app.conversation.refusal(of: AuthenticationMethods.startSignIn, request, codes: used)
        },
        Requirement(
            "AUTHN-24", "StartSignIn sends the browser to the MVPD's SAML address, with a secret for its cookie.",
            source: "authentication.proto SignInStart, config.proto SamlEndpoint.sso_url"
        ) { examination in
            let app = try await TestApp(examination)
            let start = try await app.begin(at: "NorthCable").start
            let mvpd = try examination.peers().configuration.mvpds.first { $0.id == "NorthCable" }
            guard case .saml(let endpoint) = mvpd?.signIn else { throw NotApplicable("NorthCable signs in by something else") }
            guard start.url.hasPrefix(endpoint.ssoURL) else { throw Unmet("an address at \(endpoint.ssoURL)", came: start.url) }
            guard start.url.contains("SAMLRequest=") || start.fields.contains(where: { $0.name == "SAMLRequest" }) else {
                throw Unmet("a SAMLRequest", came: FrameText.text(start))
            }
            guard !start.browserSecret.isEmpty, start.expiresInSeconds > 0 else {
                throw Unmet("browser_secret and expires_in_s", came: FrameText.text(start))
            }
        },
        Requirement(
            "AUTHN-25", "StartSignIn sends the browser to the MVPD's OAuth address, with a state and PKCE.",
            source: "authentication.proto SignInStart, config.proto OAuthEndpoint.authorize_url"
        ) { examination in
            let app = try await TestApp(examination)
            let start = try await app.begin(at: "OpenFiber").start
            let mvpd = try examination.peers().configuration.mvpds.first { $0.id == "OpenFiber" }
            guard case .oauth(let endpoint) = mvpd?.signIn else { throw NotApplicable("OpenFiber signs in by something else") }
            guard start.url.hasPrefix(endpoint.authorizeURL), start.url.contains("state="), start.url.contains("code_challenge=") else {
                throw Unmet("an address at \(endpoint.authorizeURL) with state and code_challenge", came: start.url)
            }
        },
        Requirement(
            "AUTHN-26",
            "StartSignIn refuses: no parameters (`invalid_request`), an unknown code (`invalid_registration_code`), MVPD (`unknown_integration`), domain (`invalid_domain`), an address that is not the requestor's (`invalid_redirect_url`).",
            source: "authentication.proto StartSignIn"
        ) { examination in
            let app = try await TestApp(examination)
            let good = app.startSignIn(try await app.code(TestApp.device()).code, mvpd: "NorthCable")
            let cases: [(String, (inout StartSignInRequest) -> Void)] = [
                ("invalid_requestor", { $0.requestor = "NOBODY" }), ("invalid_request", { $0.mvpd = "" }),
                ("invalid_registration_code", { $0.registrationCode = "NOTHING" }), ("unknown_integration", { $0.mvpd = "ParkedTV" }),
                ("invalid_domain", { $0.domainName = "bravo.example" }), ("invalid_redirect_url", { $0.redirectURL = "https://elsewhere.example/" }),
            ]
            for (code, spoil) in cases {
                var request = good
                spoil(&request)
                try await app.conversation.refusal(of: AuthenticationMethods.startSignIn, request, codes: [code])
            }
        },
        Requirement(
            "AUTHN-27", "An answer of an MVPD that belongs to no sign-in is REJECTED, with a trace id and nowhere to go; nobody is signed in.",
            source: "authentication.proto SignInOutcome"
        ) { examination in
            let app = try await TestApp(examination)
            let outcomes = [
                try await app.conversation.call(
                    AuthenticationMethods.completeSamlSignIn,
                    CompleteSamlSignInRequest(samlResponse: "bm8gcmVzcG9uc2U=", relayState: "nothing", relayStatePresent: true, browserSecret: "none")
                ),
                try await app.conversation.call(
                    AuthenticationMethods.completeOAuthSignIn, CompleteOAuthSignInRequest(state: "nothing", code: "code", browserSecret: "none")),
            ]
            for outcome in outcomes where outcome.result != .rejected || !outcome.redirectURL.isEmpty || outcome.traceID.isEmpty {
                throw Unmet("SIGN_IN_RESULT_REJECTED with a trace_id and without a redirect_url", came: FrameText.text(outcome))
            }
        },
        Requirement(
            "AUTHN-28", "While an AuthN-all rule holds a sign-in at its MVPD gives a session of kind DEGRADED at once; it ends with the rule.",
            source: "config.proto DegradationRule, authentication.proto SESSION_KIND_DEGRADED"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let rule = DegradationRule(
                id: "conformance-28", kind: .authnAll, requestorID: "ACME1", mvpdID: "LakeTel", startsAtMilliseconds: 1,
                endsAtMilliseconds: 32_503_680_000_000)
            let probe = { () async throws -> Bool in try await app.begin(at: "LakeTel").start.url == "https://acme.example/done" }
            let request = SessionRequest(call: app.call(device))
            try await examination.peers().withCatalogue({ $0.degradationRules.append(rule) }, until: probe) {
                try await app.conversation.call(
                    AuthenticationMethods.startSignIn, app.startSignIn(try await app.code(device).code, mvpd: "LakeTel"))
                let session = try await app.conversation.call(AuthenticationMethods.getSession, request)
                guard session.kind == .degraded, session.mvpd == "LakeTel" else {
                    throw Unmet("a session of kind DEGRADED at LakeTel", came: FrameText.text(session))
                }
            }
            try await app.conversation.refusal(
                of: AuthenticationMethods.getSession, request, codes: ["authentication_session_missing", "authentication_session_expired"])
        },
        Requirement(
            "AUTHN-29", "GetServiceProviderMetadata gives a SAML metadata document; an unknown requestor is `invalid_requestor`.",
            source: "authentication.proto GetServiceProviderMetadata"
        ) { examination in
            let conversation = try await examination.greet()
            let method = AuthenticationMethods.getServiceProviderMetadata
            let document = try await conversation.call(method, ServiceProviderMetadataRequest()).document
            guard document.contains("EntityDescriptor") else { throw Unmet("an EntityDescriptor", came: document) }
            try await conversation.refusal(of: method, ServiceProviderMetadataRequest(requestor: "NOBODY"), codes: ["invalid_requestor"])
        },
    ]
}
