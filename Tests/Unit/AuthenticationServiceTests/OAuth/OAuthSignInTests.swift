import Clocks
import Contracts
import Cryptography
import Faults
import OutboundHttp
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct OAuthSignInTests {
    @Test("mvpd §3: a request has state, nonce, PKCE S256 and the exact redirect_uri; nothing that is stored tells the verifier")
    func asksAsItShould() async throws {
        let rig = try Rig()
        let visitor = try await rig.visit()
        let request = visitor.request
        #expect(visitor.start.url.hasPrefix("https://open.example/authorize?response_type=code&"))
        #expect(request["client_id"] == "boxoffice" && request["redirect_uri"] == ScriptedProvider.redirectURI)
        #expect(request["scope"] == "openid profile" && request["code_challenge_method"] == "S256")
        #expect(request["code_challenge"]?.count == 43 && request["nonce"]?.count == 43 && visitor.state.count == 49)
        #expect(Set([request["code_challenge"], request["nonce"], visitor.state]).count == 3)
        #expect(request["prompt"] == nil && request["code_verifier"] == nil)
        #expect(visitor.start.browserSecret.count == 43 && visitor.start.expiresInSeconds == 900)
        #expect(try await rig.visit().request["nonce"] != request["nonce"])
    }

    @Test("mvpd §3: code, verifier and client authentication give tokens, the id_token gives the person", arguments: Backend.allCases)
    func signsIn(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        rig.provider.script.withLock { $0.extraClaims = #","householdID":"house-1","maxRating":{"VCHIP":"TV-PG"},"secret":"x""# }
        let visitor = try await rig.visit()
        let outcome = try await rig.finish(rig.answer(visitor))
        #expect(outcome.result == .signedIn && outcome.redirectURL == "https://chan7.example/done")
        let session = try await rig.session(visitor.call)
        #expect(session.mvpd == "OpenFiber" && session.kind == .regular && session.userID.count == 64)
        #expect(try await rig.session(byCode: visitor.code.code).id == session.id)
        let subject = try await rig.subject(visitor.call)
        #expect(subject.upstreamUserID == "user-42" && subject.upstreamSessionID == session.id)
        #expect(Set(subject.attributes.map(\.key)) == ["householdID", "maxRating.VCHIP"])
        let token = try #require(rig.provider.calls.first)
        #expect(token.headers["authorization"] == "Basic " + Base64.standard.encode(Array("boxoffice:s3cret".utf8)))
        #expect(token.parameters["client_secret"] == nil)
        #expect(rig.provider.count("userinfo") == 0)
    }

    @Test("Without an id_token the profile gives the person")
    func asksForTheProfile() async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.sendsIdentityToken = false }
        let visitor = try await rig.signInByOAuth()
        #expect(try await rig.subject(visitor.call).upstreamUserID == "user-42")
        #expect(rig.provider.calls.last?.headers["authorization"] == "Bearer access-1")
        #expect(rig.provider.count("jwks") == 0)
    }

    @Test("Claims of the endpoint's map that the id_token lacks come from the profile, if it is the same person's")
    func mergesTheProfile() async throws {
        let rig = try Rig()
        rig.change { $0.attributeMap = [AttributeMapping(source: "householdID", target: "householdID")] }
        let visitor = try await rig.signInByOAuth()
        #expect(try await rig.subject(visitor.call).attributes == [UserAttribute(key: "householdID", values: ["house-1"])])
        rig.provider.script.withLock { $0.broken["userinfo"] = OutboundAnswer(status: 500, body: []) }
        try await rig.signInByOAuth(device: "dev-2")
        rig.provider.script.withLock {
            $0.broken = [:]
            $0.profile = #"{"sub":"somebody-else","householdID":"house-9"}"#
        }
        #expect(try await rig.finish(rig.answer(rig.visit(device: "dev-3"))).result == .rejected)
        #expect(rig.log.reasons == ["profile.subject"])
    }

    @Test(
        "OpenID Connect Core §5.3.2: of a profile without sub no value is used; the id_token identifies",
        arguments: ["", #""sub":null,"#, #""sub":["user-42"],"#])
    func usesNoProfileWithoutSubject(_ member: String) async throws {
        let rig = try Rig()
        rig.change { $0.attributeMap = [AttributeMapping(source: "householdID", target: "householdID")] }
        rig.provider.script.withLock { $0.profile = #"{\#(member)"householdID":"house-9"}"# }
        let visitor = try await rig.signInByOAuth()
        #expect(try await rig.subject(visitor.call).upstreamUserID == "user-42")
        #expect(try await rig.subject(visitor.call).attributes.isEmpty)
    }

    @Test("RFC 7519 §2: iat and exp of an id_token may have a fraction")
    func readsFractions() async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.fraction = ".55" }
        try await rig.signInByOAuth()
    }

    @Test("RFC 9110 §15.3.2: 201 from the token endpoint, the keys and the profile counts as 200")
    func takesCreated() async throws {
        let rig = try Rig()
        rig.change { $0.attributeMap = [AttributeMapping(source: "householdID", target: "householdID")] }
        rig.provider.script.withLock { $0.goodStatus = 201 }
        let visitor = try await rig.signInByOAuth()
        #expect(try await rig.subject(visitor.call).attributes == [UserAttribute(key: "householdID", values: ["house-1"])])
    }

    @Test("The user id may be another claim; without one the sign-in fails")
    func takesTheNamedClaim() async throws {
        let rig = try Rig()
        rig.change { $0.userIDClaim = "account" }
        rig.provider.script.withLock { $0.extraClaims = #","account":4711"# }
        let visitor = try await rig.signInByOAuth()
        #expect(try await rig.subject(visitor.call).upstreamUserID == "4711")
        rig.provider.script.withLock { $0.extraClaims = "" }
        #expect(try await rig.finish(rig.answer(rig.visit(device: "dev-2"))).result == .rejected)
        #expect(rig.log.reasons == ["subject.missing"])
    }

    @Test("mvpd §3: the allow-list is RS256, ES256, PS256", arguments: [ScriptedProvider.Algorithm.rs256, .es256, .ps256])
    func acceptsAlgorithms(_ algorithm: ScriptedProvider.Algorithm) async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.algorithm = algorithm }
        try await rig.signInByOAuth()
    }

    @Test("mvpd §3: an integration's own client, and a client that sends its secret in the body")
    func usesTheIntegrationsClient() async throws {
        let rig = try Rig()
        rig.change { $0.clientAuthentication = .post }
        rig.catalogue.change { configuration in
            for index in configuration.integrations.indices
            where configuration.integrations[index].mvpdID == "OpenFiber" && configuration.integrations[index].requestorID == "CHAN8" {
                configuration.integrations[index].oauthClient = OAuthClient(clientID: "chan8", clientSecretReference: "own")
            }
        }
        rig.provider.script.withLock { $0.audience = #""chan8""# }
        let visitor = try await rig.signInByOAuth(requestor: "CHAN8")
        #expect(visitor.request["client_id"] == "chan8")
        let token = try #require(rig.provider.calls.first)
        #expect(token.parameters["client_id"] == "chan8" && token.parameters["client_secret"] == "0wn" && token.headers["authorization"] == nil)
    }

    @Test("A provider that is away, answers nonsense or refuses the client: no statement about the person")
    func tellsTroubleFromRefusal() async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.hanging = ["token"] }
        let visitor = try await rig.visit()
        await expectFault(.unavailable) { _ = try await rig.finish(rig.answer(visitor)) }
        rig.provider.script.withLock { $0.hanging = ["jwks"] }
        await expectFault(.unavailable) { _ = try await rig.finish(rig.answer(rig.visit(device: "dev-2"))) }
        rig.provider.script.withLock {
            $0.hanging = []
            $0.broken["token"] = OutboundAnswer(status: 200, body: Array("<html>".utf8))
        }
        await expectFault(.unavailable) { _ = try await rig.finish(rig.answer(rig.visit(device: "dev-3"))) }
        rig.provider.script.withLock { $0.broken["token"] = OutboundAnswer(status: 401, body: Array(#"{"error":"invalid_client"}"#.utf8)) }
        #expect(try await rig.finish(rig.answer(rig.visit(device: "dev-4"))).result == .rejected)
        #expect(rig.log.lines.last?.event == "oauth_misconfigured" && rig.log.lines.last?.level == .error)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(visitor.call) }
    }

    @Test("No line of the log holds a code, a token, a secret or an id of a person")
    func logsNoSecret() async throws {
        let rig = try Rig()
        let visitor = try await rig.signInByOAuth()
        _ = try await rig.providerToken(visitor.call)
        rig.provider.script.withLock { $0.nonce = "x" }
        _ = try await rig.finish(rig.answer(rig.visit(device: "dev-2")))
        let text = rig.log.lines.map { "\($0.event) \($0.fields)" }.joined(separator: "\n")
        for secret in ["s3cret", "access-", "refresh-", "code-", "user-42", visitor.state] { #expect(!text.contains(secret)) }
        #expect(!text.isEmpty)
    }
}
