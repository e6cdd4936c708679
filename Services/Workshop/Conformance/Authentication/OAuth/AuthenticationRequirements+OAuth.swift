internal import Contracts

extension AuthenticationRequirements {
    static let providerAnswers = [
        Requirement(
            "AUTHN-47",
            "A sign-in at an OAuth provider: the code is exchanged with PKCE, the same redirect_uri and the client's authentication; id_tokens of RS256 and of ES256 sign the device in.",
            source: "authentication.proto CompleteOAuthSignIn, config.proto OAuthEndpoint"
        ) { examination in
            try await TestProvider.play(examination) { provider in
                for algorithm in IdentityToken.Algorithm.allCases {
                    let (pending, session) = try await provider.signIn(algorithm: algorithm)
                    guard session.kind == .regular, session.requestor == "ACME1", session.mvpd == TestProvider.id,
                        session.expiresAtMilliseconds > session.createdAtMilliseconds
                    else { throw Unmet("a session of kind REGULAR at \(TestProvider.id) for ACME1", came: FrameText.text(session)) }
                    let code = RegistrationCodeRequest(accessToken: provider.app.token, requestor: "ACME1", code: pending.code)
                    guard try await provider.app.conversation.call(AuthenticationMethods.getRegistrationCode, code).used else {
                        throw Unmet("a code that is used", came: "one that is not")
                    }
                }
                guard provider.provider.exchanges == IdentityToken.Algorithm.allCases.count else {
                    throw Unmet("an exchange of each code at token_url", came: "\(provider.provider.exchanges)")
                }
                if let complaint = provider.provider.complaints.first { throw Unmet("requests as RFC 6749 has them", came: complaint) }
            }
        },
        Requirement(
            "AUTHN-48",
            "FindSession tells the person whom the id_token names, and the attributes of the catalogue's map from id_token and profile; user_id is another for another person.",
            source: "authentication.proto SessionSubject, config.proto OAuthEndpoint.attribute_map"
        ) { examination in
            try await TestProvider.play(examination) { provider in
                let (pending, session) = try await provider.signIn()
                let person = PlayedProvider.Person.subscriber
                let subject = try await provider.app.conversation.call(
                    SessionsMethods.findSession, SessionRequest(call: provider.app.call(pending.device)))
                guard subject.upstreamUserID == person.subject, !subject.upstreamSessionID.isEmpty else {
                    throw Unmet("upstream_user_id \(person.subject) and an upstream_session_id", came: FrameText.text(subject))
                }
                for (key, values) in [("householdID", [person.household]), ("channelID", person.channels)] {
                    guard subject.attributes.first(where: { $0.key == key })?.values == values else {
                        throw Unmet("\(key) \(values)", came: FrameText.text(subject))
                    }
                }
                let again = try await provider.signIn().session
                let neighbour = try await provider.signIn(.neighbour).session
                guard again.userID == session.userID, neighbour.userID != session.userID else {
                    throw Unmet("user_id \(session.userID) again, and another one for another person", came: "\(again.userID), \(neighbour.userID)")
                }
            }
        },
        Requirement(
            "AUTHN-49",
            "An id_token is REJECTED that is not signed, that another key or a public key taken for a secret signed, that was changed, or that is for another issuer, client or nonce, or over.",
            source: "config.proto OAuthEndpoint.jwks_url, authentication.proto SIGN_IN_RESULT_REJECTED"
        ) { examination in
            try await TestProvider.play(examination) { provider in
                for flaw in IdentityToken.Flaw.allCases {
                    let pending = try await provider.begin()
                    let code = provider.code(for: pending, flaw: flaw)
                    try await provider.requireRejected(provider.answer(code, to: pending), to: pending)
                }
                if provider.provider.exchanges < IdentityToken.Flaw.allCases.count {
                    throw Unmet("an exchange of each code", came: "\(provider.provider.exchanges)")
                }
            }
        },
        Requirement(
            "AUTHN-50",
            "A genuine code is REJECTED, and not exchanged, with another state, from another browser or by another issuer (RFC 9207); an answer is taken once.",
            source: "authentication.proto CompleteOAuthSignInRequest"
        ) { examination in
            try await TestProvider.play(examination) { provider in
                let errors: [(inout CompleteOAuthSignInRequest) -> Void] = [
                    { $0.state = "another-state" }, { $0.browserSecret = "another-browser" }, { $0.issuer = "https://elsewhere.example" },
                ]
                for err in errors {
                    let pending = try await provider.begin()
                    var request = provider.answer(provider.code(for: pending), to: pending)
                    err(&request)
                    try await provider.requireRejected(request, to: pending)
                }
                guard provider.provider.exchanges == 0 else { throw Unmet("no exchange of such codes", came: "\(provider.provider.exchanges)") }
                let pending = try await provider.begin()
                let request = provider.answer(provider.code(for: pending), to: pending)
                guard try await provider.bring(request).result == .signedIn else {
                    throw Unmet("SIGN_IN_RESULT_SIGNED_IN for the first time", came: "another result")
                }
                let again = try await provider.bring(request)
                guard again.result == .rejected else { throw Unmet("SIGN_IN_RESULT_REJECTED", came: FrameText.text(again)) }
            }
        },
        Requirement(
            "AUTHN-51",
            "A person who says no at the provider (access_denied) goes back to the app: DECLINED, with the redirect_url; nobody is signed in.",
            source: "authentication.proto CompleteOAuthSignInRequest.error, SIGN_IN_RESULT_DECLINED"
        ) { examination in
            try await TestProvider.play(examination) { provider in
                let pending = try await provider.begin()
                var request = provider.answer("", to: pending)
                request.error = "access_denied"
                let outcome = try await provider.bring(request)
                guard outcome.result == .declined, outcome.redirectURL.hasPrefix("https://acme.example/done") else {
                    throw Unmet("SIGN_IN_RESULT_DECLINED and redirect_url https://acme.example/done", came: FrameText.text(outcome))
                }
                try await provider.requireNoSession(pending)
            }
        },
        Requirement(
            "AUTHN-52",
            "GetUpstreamToken gives an access token of the provider's, a fresh one when the one before is over; when the provider takes the refresh token no more, the person has to sign in again.",
            source: "authentication.proto GetUpstreamToken"
        ) { examination in
            try await TestProvider.play(examination) { provider in
                let pending = try await provider.signIn().pending
                let conversation = provider.app.conversation
                let subject = try await conversation.call(
                    SessionsMethods.findSession, SessionRequest(call: provider.app.call(pending.device)))
                let request = UpstreamTokenRequest(upstreamSessionID: subject.upstreamSessionID)
                try await Task.sleep(for: .seconds(PlayedProvider.accessTokenLife))
                let token = try await conversation.call(SessionsMethods.getUpstreamToken, request).accessToken
                guard provider.provider.knows(token) else { throw Unmet("an access token that the provider gave out", came: "another one") }
                try await Task.sleep(for: .seconds(PlayedProvider.accessTokenLife))
                guard try await conversation.call(SessionsMethods.getUpstreamToken, request).accessToken != token else {
                    throw Unmet("a fresh access token after \(PlayedProvider.accessTokenLife) s, its expires_in", came: "the same one")
                }
                provider.provider.revokeRefreshTokens()
                try await Task.sleep(for: .seconds(PlayedProvider.accessTokenLife))
                try await conversation.refusal(
                    of: SessionsMethods.getUpstreamToken, request, codes: ["authorization_denied_by_session_invalidated"])
                try await conversation.refusal(
                    of: SessionsMethods.getUpstreamToken, UpstreamTokenRequest(upstreamSessionID: "nothing"), codes: ["not_found"])
            }
        },
    ]
}
