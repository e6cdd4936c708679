import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// mvpd #91: a hostile provider has a person's browser bring it the code of an honest one (mix-up, RFC 9700 §4.4). In all cases a person signs in at
/// "Evil". Its authorization endpoint leads on to that of OpenFiber, with the attacker's request and the person's state.
struct OAuthMixUpTests {
    /// A provider that has an id and a token endpoint of its own, and is hostile.
    private static func addEvil(to rig: Rig, _ callback: CallbackAddress) {
        var endpoint = ScriptedProvider.endpoint
        let issuer = "https://evil.example"
        (endpoint.issuer, endpoint.authorizeURL, endpoint.tokenURL) = (issuer, "\(issuer)/authorize", "\(issuer)/token")
        (endpoint.profileURL, endpoint.jwksURL, endpoint.callback) = ("\(issuer)/userinfo", "", callback)
        rig.catalogue.change { [endpoint] configuration in
            configuration.mvpds.append(Mvpd(id: "Evil", displayName: "Evil", signIn: .oauth(endpoint)))
            configuration.integrations.append(Integration(requestorID: "CHAN7", mvpdID: "Evil", enabled: true))
        }
    }

    /// - Returns: The person at the hostile provider, the attacker at the honest one, and the answer that the honest one gives the person's browser.
    private func mixUp(
        _ rig: Rig, place: String, issuer: String = ""
    ) async throws -> (person: Rig.Visitor, attacker: Rig.Visitor, answer: CompleteOAuthSignInRequest) {
        let attacker = try await rig.visit(device: "dev-of-the-attacker")
        let person = try await rig.visit(device: "dev-of-the-person", mvpd: "Evil")
        let code = rig.provider.authorize(attacker.start.url)
        let answer = CompleteOAuthSignInRequest(
            state: person.state, code: code, issuer: issuer, browserSecret: person.start.browserSecret, callback: place)
        return (person, attacker, answer)
    }

    @Test("mvpd #91: the code of an honest provider never goes to another one's token endpoint, whatever either shares", arguments: Backend.allCases)
    func ownCallbacks(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        for (evil, honest, place) in [
            (CallbackAddress.own, CallbackAddress.own, "OpenFiber"), (.own, .shared, ""), (.shared, .own, "OpenFiber"),
        ] {
            rig.change { $0.callback = honest }
            Self.addEvil(to: rig, evil)
            let (person, attacker, answer) = try await mixUp(rig, place: place)
            #expect(try await rig.finish(answer).result == .rejected)
            #expect(rig.log.reasons.last == "oauth.callback")
            #expect(rig.provider.count("token") == 0, "the code was sent to the hostile provider")
            await expectFault(.authenticationSessionMissing) { _ = try await rig.session(person.call) }
            await expectFault(.authenticationSessionMissing) { _ = try await rig.session(attacker.call) }
            rig.catalogue.change { configuration in
                configuration.mvpds.removeAll { $0.id == "Evil" }
                configuration.integrations.removeAll { $0.mvpdID == "Evil" }
            }
        }
    }

    @Test(
        "mvpd #91: two records of before that share a callback: with 'sharedCallback: iss' an answer without iss, or with another one's, is refused")
    func sharedCallbacks() async throws {
        let rig = try Rig(sharedRule: .iss)
        Self.addEvil(to: rig, .shared)
        for issuer in ["", ScriptedProvider.issuer] {
            let (person, _, answer) = try await mixUp(rig, place: "", issuer: issuer)
            #expect(try await rig.finish(answer).result == .rejected)
            #expect(rig.log.reasons.last == "oauth.issuer" && rig.provider.count("token") == 0)
            await expectFault(.authenticationSessionMissing) { _ = try await rig.session(person.call) }
        }
        // An honest answer says whose it is.
        let visitor = try await rig.visit(device: "dev-9")
        var request = rig.answer(visitor)
        request.issuer = ScriptedProvider.issuer
        #expect(try await rig.finish(request).result == .signedIn)
    }

    @Test("mvpd §3: the record's own callback stands in the request, and at the token endpoint; one behind a proxy has the proxy's")
    func namesOwnCallback() async throws {
        let rig = try Rig()
        rig.change { $0.callback = .own }
        let visitor = try await rig.visit()
        let own = ScriptedProvider.redirectURI + "/OpenFiber"
        #expect(visitor.request["redirect_uri"] == own)
        var request = rig.answer(visitor)
        request.callback = "OpenFiber"
        #expect(try await rig.finish(request).result == .signedIn)
        #expect(rig.provider.calls.first { $0.endpoint == "token" }?.parameters["redirect_uri"] == own)
        rig.catalogue.change { configuration in
            configuration.mvpds.append(Mvpd(id: "Behind", displayName: "Behind", isProxied: true, proxyMvpdID: "OpenFiber"))
            configuration.integrations.append(Integration(requestorID: "CHAN7", mvpdID: "Behind", enabled: true))
        }
        #expect(try await rig.visit(device: "dev-2", mvpd: "Behind").request["redirect_uri"] == own)
    }

    @Test("mvpd §3: a sign-in is answered where it began, so that a change of the record cuts nobody off", arguments: Backend.allCases)
    func changedMeanwhile(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let early = try await rig.visit()
        let earlyAnswer = rig.answer(early)
        rig.change { $0.callback = .own }
        #expect(try await rig.finish(earlyAnswer).result == .signedIn)
        let late = try await rig.visit(device: "dev-2")
        var lateAnswer = rig.answer(late)
        lateAnswer.callback = "OpenFiber"
        rig.change { $0.callback = .shared }
        #expect(try await rig.finish(lateAnswer).result == .signedIn)
        // And nowhere else.
        let wrong = try await rig.visit(device: "dev-3")
        var wrongAnswer = rig.answer(wrong)
        wrongAnswer.callback = "OpenFiber"
        #expect(try await rig.finish(wrongAnswer).result == .rejected)
        #expect(rig.log.reasons.last == "oauth.callback")
    }

    @Test("RFC 9207 §2.4: iss is missing where the provider announces it, by its record or its discovery document")
    func missingIssuer() async throws {
        let rig = try Rig()
        rig.change { $0.requiresIssuer = true }
        let first = try await rig.visit()
        #expect(try await rig.finish(rig.answer(first)).result == .rejected)
        #expect(rig.log.reasons.last == "oauth.issuer" && rig.provider.count("token") == 0)
        // A record of before the import stored it is asked again, once a day.
        rig.change { $0.requiresIssuer = false }
        rig.provider.script.withLock {
            $0.discovery = #"{"issuer":"\#(ScriptedProvider.issuer)","authorization_response_iss_parameter_supported":true}"#
        }
        for number in 2...3 {
            let visitor = try await rig.visit(device: "dev-\(number)")
            #expect(try await rig.finish(rig.answer(visitor)).result == .rejected)
            #expect(rig.log.reasons.last == "oauth.issuer" && rig.provider.count("token") == 0)
        }
        #expect(rig.provider.count(".well-known/openid-configuration") == 1)
        let named = try await rig.visit(device: "dev-4")
        var request = rig.answer(named)
        request.issuer = ScriptedProvider.issuer
        #expect(try await rig.finish(request).result == .signedIn)
        // A day later it announces it no more.
        rig.clock.advance(by: .seconds(86_401))
        rig.provider.script.withLock { $0.discovery = #"{"issuer":"\#(ScriptedProvider.issuer)"}"# }
        try await rig.signInByOAuth(device: "dev-5")
        #expect(rig.provider.count(".well-known/openid-configuration") == 2)
    }

    @Test(
        "what a provider announced is kept over a restart: it counts while its document cannot be read, until one says otherwise",
        arguments: Backend.allCases)
    func keptAnnouncement(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        func says(_ document: String) { rig.provider.script.withLock { $0.discovery = document } }
        func answer(_ device: String, by copy: AuthenticationClient) async throws -> SignInResult {
            let visitor = try await rig.visit(device: device)
            return try await copy.completeOAuthSignIn(rig.answer(visitor), context: rig.context).result
        }
        says(#"{"issuer":"\#(ScriptedProvider.issuer)","authorization_response_iss_parameter_supported":true}"#)
        #expect(try await answer("dev-1", by: rig.service) == .rejected)
        says("")
        let restarted = rig.copy()
        #expect(try await answer("dev-2", by: restarted) == .rejected)
        #expect(rig.log.reasons.last == "oauth.issuer" && rig.provider.count("token") == 0)
        // The next try to read it finds a document that announces nothing; so does the next start know.
        rig.clock.advance(by: .seconds(601))
        says(#"{"issuer":"\#(ScriptedProvider.issuer)"}"#)
        #expect(try await answer("dev-3", by: restarted) == .signedIn)
        says("")
        #expect(try await answer("dev-4", by: rig.copy()) == .signedIn)
    }

    @Test("RFC 9207: the document of another issuer, a broken one and none say nothing of this provider", arguments: ["{}", "[", "", "evil"])
    func unusableDiscovery(_ document: String) async throws {
        let rig = try Rig()
        let foreign = #"{"issuer":"https://evil.example","authorization_response_iss_parameter_supported":true}"#
        rig.provider.script.withLock { $0.discovery = document == "evil" ? foreign : document }
        try await rig.signInByOAuth()
    }
}
