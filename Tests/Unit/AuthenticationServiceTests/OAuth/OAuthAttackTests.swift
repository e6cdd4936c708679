import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// mvpd #91: one case for each attack; none of them signs a person in.
struct OAuthAttackTests {
    private func expectRejection(
        _ reason: String, _ rig: Rig, _ call: DeviceCall, _ request: CompleteOAuthSignInRequest,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try await rig.finish(request).result == .rejected, sourceLocation: sourceLocation)
        #expect(rig.log.reasons.last == reason, sourceLocation: sourceLocation)
        await expectFault(.authenticationSessionMissing, sourceLocation: sourceLocation) { _ = try await rig.session(call) }
    }

    @Test("mvpd #91: wrong, absent or another browser's state", arguments: Backend.allCases)
    func wrongState(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let visitor = try await rig.visit()
        var request = rig.answer(visitor)
        request.state = "guessed"
        try await expectRejection("state.unknown", rig, visitor.call, request)
        request.state = ""
        try await expectRejection("state.unknown", rig, visitor.call, request)
        let attacker = try await rig.visit(device: "dev-2")
        request.state = attacker.state
        try await expectRejection("state.unknown", rig, visitor.call, request)
        #expect(rig.provider.calls.isEmpty)
        // The attempts have not consumed the genuine request.
        #expect(try await rig.finish(rig.answer(visitor)).result == .signedIn)
    }

    @Test("mvpd #91: no cookie, or a foreign one; a record may allow a missing one")
    func wrongCookie() async throws {
        let rig = try Rig()
        let visitor = try await rig.visit()
        var request = rig.answer(visitor)
        request.browserSecret = "another"
        try await expectRejection("state.unknown", rig, visitor.call, request)
        request.browserSecret = ""
        try await expectRejection("state.unknown", rig, visitor.call, request)
        rig.change { $0.allowMissingCookie = true }
        #expect(try await rig.finish(request).result == .signedIn)
    }

    @Test("mvpd #91: a callback that is sent again, also at the same time, uses its code once")
    func reusedState() async throws {
        let rig = try Rig()
        let visitor = try await rig.visit()
        let request = rig.answer(visitor)
        let results = try await withThrowingTaskGroup(of: SignInResult.self) { group in
            for _ in 0..<8 { group.addTask { try await rig.finish(request).result } }
            return try await group.reduce(into: [SignInResult]()) { $0.append($1) }
        }
        #expect(results.count { $0 == .signedIn } == 1 && results.count { $0 == .rejected } == 7)
        #expect(rig.provider.count("token") == 1)
    }

    @Test("mvpd #91: a code that was used before")
    func reusedCode() async throws {
        let rig = try Rig()
        let first = try await rig.visit()
        let used = rig.answer(first)
        #expect(try await rig.finish(used).result == .signedIn)
        let second = try await rig.visit(device: "dev-2")
        var request = rig.answer(second)
        request.code = used.code
        try await expectRejection("oauth.code", rig, second.call, request)
    }

    @Test("mvpd #91: a code of another request does not fit this one's verifier")
    func wrongVerifier() async throws {
        let rig = try Rig()
        let victim = try await rig.visit()
        let injected = rig.answer(victim)
        let attacker = try await rig.visit(device: "dev-2")
        let request = CompleteOAuthSignInRequest(state: attacker.state, code: injected.code, browserSecret: attacker.start.browserSecret)
        try await expectRejection("oauth.code", rig, attacker.call, request)
        let sent = rig.provider.calls.compactMap { $0.parameters["code_verifier"] }
        #expect(sent.count == 1 && sent[0].count == 43)
    }

    @Test("mvpd #91: a callback without a code, and one that names another issuer")
    func wrongParameters() async throws {
        let rig = try Rig()
        let visitor = try await rig.visit()
        var request = rig.answer(visitor)
        request.code = ""
        try await expectRejection("oauth.params", rig, visitor.call, request)
        let second = try await rig.visit(device: "dev-2")
        request = rig.answer(second)
        request.issuer = "https://evil.example"
        try await expectRejection("oauth.issuer", rig, second.call, request)
        let third = try await rig.visit(device: "dev-3")
        request = rig.answer(third)
        request.issuer = ScriptedProvider.issuer
        #expect(try await rig.finish(request).result == .signedIn)
    }

    @Test("mvpd #91: an id_token with alg none or HS256 over the public key", arguments: [ScriptedProvider.Algorithm.none, .hs256])
    func wrongAlgorithm(_ algorithm: ScriptedProvider.Algorithm) async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.algorithm = algorithm }
        let visitor = try await rig.visit()
        try await expectRejection("idtoken.alg", rig, visitor.call, rig.answer(visitor))
    }

    @Test("mvpd #91: an id_token for foreign audiences, or for none", arguments: [#""other""#, #"["other","boxoffice2"]"#, "[]"])
    func foreignAudience(_ audience: String) async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.audience = audience }
        let visitor = try await rig.visit()
        try await expectRejection("idtoken.audience", rig, visitor.call, rig.answer(visitor))
    }

    @Test("mvpd #91, OpenID Connect Core §3.1.3.7 with errata 2: among several audiences ours suffices; an azp that is sent is ours always")
    func authorizedParty() async throws {
        let rig = try Rig()
        rig.provider.script.withLock {
            $0.audience = #"["boxoffice","other"]"#
            $0.authorizedParty = "boxoffice"
        }
        try await rig.signInByOAuth()
        rig.provider.script.withLock { $0.authorizedParty = nil }
        try await rig.signInByOAuth(device: "dev-1")
        rig.provider.script.withLock { $0.authorizedParty = "other" }
        let visitor = try await rig.visit(device: "dev-2")
        try await expectRejection("idtoken.azp", rig, visitor.call, rig.answer(visitor))
    }

    @Test("mvpd #91: an id_token with another request's nonce")
    func wrongNonce() async throws {
        let rig = try Rig()
        let other = try await rig.visit(device: "dev-2")
        rig.provider.script.withLock { $0.nonce = other.request["nonce"] }
        let visitor = try await rig.visit()
        try await expectRejection("idtoken.nonce", rig, visitor.call, rig.answer(visitor))
    }

    @Test("mvpd #91: an id_token of another issuer")
    func foreignIssuer() async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.issuer = "https://open.example/" }
        let visitor = try await rig.visit()
        try await expectRejection("idtoken.issuer", rig, visitor.call, rig.answer(visitor))
    }

    @Test("mvpd #91: an id_token from the future, an old one and an expired one; one inside the skew is good")
    func wrongTime() async throws {
        let rig = try Rig()
        for (number, (ago, lifetime)) in [(Int64(-62), Int64(300)), (1000, 5000), (400, 300)].enumerated() {
            rig.provider.script.withLock {
                $0.issuedAgo = ago
                $0.lifetime = lifetime
            }
            let visitor = try await rig.visit(device: "dev-\(number)")
            try await expectRejection("idtoken.time", rig, visitor.call, rig.answer(visitor))
        }
        rig.provider.script.withLock {
            $0.issuedAgo = -58
            $0.lifetime = 300
        }
        try await rig.signInByOAuth(device: "dev-8")
        rig.provider.script.withLock { $0.issuedAgo = 358 }
        try await rig.signInByOAuth(device: "dev-9")
    }

    @Test("mvpd #91: an id_token signed by a key that is not published under its name, and a claim that stands there twice")
    func foreignKey() async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.key = 1 }
        let visitor = try await rig.visit()
        try await expectRejection("idtoken.key", rig, visitor.call, rig.answer(visitor))
        rig.provider.script.withLock {
            $0.key = 0
            $0.extraClaims = #","sub":"admin""#
        }
        let second = try await rig.visit(device: "dev-2")
        try await expectRejection("idtoken.form", rig, second.call, rig.answer(second))
    }

    @Test("The answer of one protocol does not end a request of the other")
    func mixedProtocols() async throws {
        let rig = try Rig()
        let visitor = try await rig.visit()
        let saml = CompleteSamlSignInRequest(
            samlResponse: "PFJlc3BvbnNlLz4=", relayState: visitor.state, relayStatePresent: true, browserSecret: visitor.start.browserSecret)
        rig.saml.accept()
        #expect(try await rig.finish(saml).result == .rejected)
        let code = try await rig.code(rig.call(rig.bearer(), device: "dev-2"))
        let browser = try await rig.start(code.code)
        let request = CompleteOAuthSignInRequest(state: browser.relay, code: "code", browserSecret: browser.start.browserSecret)
        #expect(try await rig.finish(request).result == .rejected)
        #expect(try await rig.finish(browser).result == .signedIn)
    }
}
