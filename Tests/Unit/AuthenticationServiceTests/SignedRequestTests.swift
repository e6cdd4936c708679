import Clocks
import Contracts
import Cryptography
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

@Suite("Signed requests, and identities from another house")
struct SignedRequestTests {
    /// The secret of `ScriptedProvider.Secrets`.
    private static let secret = "s3cret"
    private static let publicKey = "abcdefgh12345678"

    private static func rig(_ backend: Backend = .sqlite, _ change: (inout RequestSigningKey) -> Void = { _ in }) throws -> Rig {
        let rig = try Rig(backend)
        var key = RequestSigningKey(publicKey: publicKey, secretReference: "openfiber", requestorIDs: ["CHAN7"])
        change(&key)
        rig.catalogue.change { [key] in $0.applications[0].signingKeys = [key] }
        return rig
    }

    private static func signed(
        at moment: Timestamp, requestor: String = "CHAN7", method: String = "GET", uri: String = "/authorize", nonce: String = "n1",
        secret: String = secret, key: String = publicKey, target: String = "/api/v1/authorize?x=1", isPlain: Bool = false
    ) -> SignedRequest {
        let text =
            "\(method) requestor_id=\(requestor), nonce=\(nonce), signature_method=HMAC-SHA1, request_time=\(moment.milliseconds), request_uri=\(uri)"
        let signature = Base64.standard.encode(HMACSHA1.authenticate(Array(text.utf8), key: Array(secret.utf8)))
        return SignedRequest(
            header: "\(text), public_key=\(key), signature=\(signature)", method: "GET", target: target, clientAddress: "203.0.113.9",
            isPlain: isPlain)
    }

    private static func verify(_ rig: Rig, _ request: SignedRequest, requestor: String = "") async throws -> VerifiedClient {
        try await rig.service.verifyAccessToken(VerifyAccessTokenRequest(requestor: requestor, signedRequest: request), context: rig.context)
    }

    @Test("a pair acts as a client of its application, with the scopes of apps")
    func acts() async throws {
        let rig = try Self.rig()
        let client = try await Self.verify(rig, Self.signed(at: rig.clock.now()), requestor: "CHAN7")
        #expect(client.applicationID == "tv" && client.isShared && client.requestorIDs == ["CHAN7"])
        #expect(client.scopes == ["api:client:v1", "api:client:v2"])
    }

    @Test("clients #6: a wrong secret, an unknown key, a changed field: one answer for all, and the log says which")
    func refusals() async throws {
        let rig = try Self.rig()
        let now = rig.clock.now()
        var changed = Self.signed(at: now)
        changed.header = changed.header.replacing("nonce=n1", with: "nonce=n2")
        let bad = [
            Self.signed(at: now, secret: "another"), Self.signed(at: now, key: "unknown1"), changed, Self.signed(at: now, requestor: "CHAN8"),
            SignedRequest(header: "GET nonsense"),
        ]
        for request in bad { await expectFault(.accessDenied) { _ = try await Self.verify(rig, request) } }
        let causes = rig.log.lines.filter { $0.event == "signed_request.refused" }.compactMap { $0.fields["cause"] }
        #expect(causes == ["signature", "unknown_key", "signature", "requestor", "syntax"])
        #expect(!rig.log.lines.contains { line in line.fields.values.contains { $0.contains(Self.secret) } }, "clients #10")
    }

    @Test(
        "clients #7: clocks of televisions may be a day wrong, and no more; or as long as the pair says",
        arguments: [(0, 86_400), (300, 300), (172_800, 172_800)] as [(UInt32, Int64)])
    func window(configured: UInt32, seconds: Int64) async throws {
        let rig = try Self.rig { $0.windowSeconds = configured }
        for side: Int64 in [-1, 1] {
            _ = try await Self.verify(rig, Self.signed(at: rig.clock.now() + .milliseconds(side * seconds * 1000)))
            await expectFault(.accessDenied) {
                _ = try await Self.verify(rig, Self.signed(at: rig.clock.now() + .milliseconds(side * (seconds * 1000 + 1))))
            }
        }
    }

    @Test("clients #8: a header for a requestor that is not the pair's is 401, its path 403")
    func requestors() async throws {
        let rig = try Self.rig()
        let now = rig.clock.now()
        await expectFault(.accessDenied) { _ = try await Self.verify(rig, Self.signed(at: now, requestor: "FOREIGN"), requestor: "FOREIGN") }
        await expectFault(.insufficientScope) { _ = try await Self.verify(rig, Self.signed(at: now), requestor: "FOREIGN") }
        await expectFault(.insufficientScope) { _ = try await Self.verify(rig, Self.signed(at: now), requestor: "CHAN8") }
    }

    @Test("clients #9: disabled, not yet, over, rotated with an overlap")
    func lifeOfAPair() async throws {
        let rig = try Self.rig()
        let now = rig.clock.now()
        let instant = UInt64(now.milliseconds)
        func isServed(_ change: (inout RequestSigningKey) -> Void) async throws -> Bool {
            var key = RequestSigningKey(publicKey: Self.publicKey, secretReference: "openfiber", requestorIDs: ["CHAN7"])
            change(&key)
            let other = RequestSigningKey(publicKey: "next12345678", secretReference: "own", requestorIDs: ["CHAN7"])
            rig.catalogue.change { [key] in $0.applications[0].signingKeys = [key, other] }
            _ = try await Self.verify(rig, Self.signed(at: now, secret: "0wn", key: "next12345678"))
            do { _ = try await Self.verify(rig, Self.signed(at: now)) } catch { return false }
            return true
        }
        #expect(try await isServed { _ in })
        #expect(try await !isServed { $0.disabled = true })
        #expect(try await !isServed { $0.fromMilliseconds = instant + 1 })
        #expect(
            try await isServed {
                $0.fromMilliseconds = instant; $0.untilMilliseconds = instant + 1
            })
        #expect(try await !isServed { $0.untilMilliseconds = instant })
        #expect(try await !isServed { $0.secretReference = "nowhere" })
    }

    @Test("clients #5, #12: one header serves again and for other calls, unless the pair is strict", arguments: Backend.allCases)
    func replay(_ backend: Backend) async throws {
        let open = try Self.rig(backend)
        let header = Self.signed(at: open.clock.now(), method: "DELETE", uri: "/authn", target: "/api/v1/tokens/authn")
        for _ in 0..<4 { _ = try await Self.verify(open, header) }
        let strict = try Self.rig(backend) { $0.strict = true }
        let now = strict.clock.now()
        await expectFault(.accessDenied) { _ = try await Self.verify(strict, header) }
        for (index, uri) in ["/authorize", "/api/v1/authorize", "https://tv.example/api/v1/authorize?x=1", "http://h/api/v1/authorize"].enumerated() {
            let own = Self.signed(at: now, uri: uri, nonce: "n\(index)")
            _ = try await Self.verify(strict, own)
            await expectFault(.accessDenied) { _ = try await Self.verify(strict, own) }
            let copy = strict.copy()
            await expectFault(.accessDenied) {
                _ = try await copy.verifyAccessToken(VerifyAccessTokenRequest(signedRequest: own), context: strict.context)
            }
        }
        for uri in [
            "/tokens/authn", "https://tv.example/api/v1/other", "authorize", "", "/horize", "/v1/authorize", "https://tv.example/authorize",
            "/authorize?x=2", "/authorize?", "https://tv.example/api/v1/authorize?x=1&x=2", "/api/v1/authorize/",
        ] {
            await expectFault(.accessDenied) { _ = try await Self.verify(strict, Self.signed(at: now, uri: uri, nonce: "x\(uri)")) }
        }
    }

    @Test(
        "clients #12: what a strict pair signs is the whole address, the whole path, or the path behind its base; a query that is signed is the call's",
        arguments: [
            ("/tokens/authn", "/api/v1/tokens/authn?requestor=CHAN7", true), ("/authn", "/api/v1/tokens/authn", false),
            ("/regcode", "/reggie/v1/CHAN7/regcode?ttl=60", true), ("/CHAN7/regcode", "/reggie/v1/CHAN7/regcode", false),
            ("/regcode/ABC", "/reggie/v1/CHAN7/regcode/ABC", true), ("/regcode", "/reggie/v1/regcode", false),
            ("https://tv.example/reggie/v1/CHAN7/regcode", "/reggie/v1/CHAN7/regcode?ttl=60", true),
            ("/api/v1/authorize?x=1", "/api/v1/authorize?x=1", true), ("/authorize?x=1", "/api/v1/authorize?x=1", true),
            ("/authorize?x=1", "/api/v1/authorize", false), ("/authorize?x=1", "/api/v1/authorize?y=2", false),
            ("https://tv.example?x=1", "/api/v1/authorize?x=1", false), ("https://tv.example", "/api/v1/authorize", false),
            ("/", "/api/v1/authorize", false),
        ])
    func coverage(uri: String, target: String, isCovered: Bool) async throws {
        let rig = try Self.rig { $0.strict = true }
        let request = Self.signed(at: rig.clock.now(), uri: uri, target: target)
        let isServed: Bool
        do {
            _ = try await Self.verify(rig, request)
            isServed = true
        } catch let fault as Fault where fault.code == .accessDenied { isServed = false }
        #expect(isServed == isCovered)
    }

    @Test("clients #12, #25: where others can read it, only a strict pair's header counts")
    func plain() async throws {
        let open = try Self.rig()
        await expectFault(.accessDenied) { _ = try await Self.verify(open, Self.signed(at: open.clock.now(), isPlain: true)) }
        let strict = try Self.rig { $0.strict = true }
        _ = try await Self.verify(strict, Self.signed(at: strict.clock.now(), isPlain: true))
    }

    @Test("clients #70: no caller by signature learns a device from a code; the maker's other calls it has")
    func sharedMaker() async throws {
        let rig = try Self.rig()
        var call = rig.call("")
        call.signedRequest = Self.signed(at: rig.clock.now())
        let made = try await rig.code(call)
        #expect(made.deviceID == "dev-7f3a" && made.applicationID == "tv", "its own answer")
        let shown = try await rig.service.getRegistrationCode(
            RegistrationCodeRequest(requestor: "CHAN7", code: made.code, signedRequest: call.signedRequest), context: rig.context)
        #expect(shown.deviceID != "dev-7f3a" && !shown.deviceID.isEmpty && shown.applicationID == "tv")
        let byCode = SessionByCodeRequest(requestor: "CHAN7", code: made.code, signedRequest: call.signedRequest)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.service.getOwnSessionByCode(byCode, context: rig.context) }
        var elsewhere = byCode
        elsewhere.deviceID = "another"
        await expectFault(.invalidRegistrationCode) { _ = try await rig.service.getOwnSessionByCode(elsewhere, context: rig.context) }
        let other = try await rig.bearer()
        let byBearer = SessionByCodeRequest(accessToken: other, requestor: "CHAN7", code: made.code)
        await expectFault(.invalidRegistrationCode) { _ = try await rig.service.getOwnSessionByCode(byBearer, context: rig.context) }
    }

    @Test("clients #11: signed and bearer calls of one application see one device's session")
    func oneApplication() async throws {
        let rig = try Self.rig()
        let bearer = rig.call(try await rig.bearer())
        try await rig.signIn(bearer)
        var call = rig.call("")
        call.signedRequest = Self.signed(at: rig.clock.now())
        #expect(try await rig.session(call).requestor == "CHAN7")
        #expect(try await rig.logout(call) == 1)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(bearer) }
    }

    @Test("what is bound to the client alone is not given to one that many share")
    func boundToTheClient() async throws {
        let rig = try Self.rig()
        var call = rig.call("")
        call.signedRequest = Self.signed(at: rig.clock.now())
        let exchange = ExchangePlatformProfileRequest(call: call, mvpd: "DemoCable", samlResponse: "PHg+PC94Pg==")
        await expectFault(.accessDenied) { _ = try await rig.service.exchangePlatformProfile(exchange, context: rig.context) }
        let both = VerifyAccessTokenRequest(accessToken: "x", signedRequest: call.signedRequest)
        await expectFault(.invalidRequest) { _ = try await rig.service.verifyAccessToken(both, context: rig.context) }
    }

    @Test("clients #69, #101: an imported client has its own secret and the scopes of apps, and is shared")
    func importedClient() async throws {
        let rig = try Rig()
        rig.catalogue.change {
            $0.applications[0].clients = [ImportedClient(clientID: "old-app", secretReference: "own")]
            $0.applications[0].scopes.append("decisions:owner")
        }
        func token(_ secret: String) async throws -> String {
            let request = IssueAccessTokenRequest(clientID: "old-app", clientSecret: secret, grantType: "client_credentials")
            return try await rig.service.issueAccessToken(request, context: rig.context).accessToken
        }
        await expectFault(.invalidClient) { _ = try await token("wrong") }
        let bearer = try await token("0wn")
        let client = try await rig.service.verifyAccessToken(VerifyAccessTokenRequest(accessToken: bearer, requestor: "CHAN7"), context: rig.context)
        #expect(client.isShared && client.clientID == "old-app" && client.scopes == ["api:client:v1", "api:client:v2"])
        let code = try await rig.code(rig.call(bearer))
        let shown = RegistrationCodeRequest(accessToken: bearer, requestor: "CHAN7", code: code.code)
        #expect(try await rig.service.getRegistrationCode(shown, context: rig.context).deviceID != "dev-7f3a")
        let exchange = ExchangePlatformProfileRequest(call: rig.call(bearer), mvpd: "DemoCable", samlResponse: "PHg+PC94Pg==")
        await expectFault(.insufficientScope) { _ = try await rig.service.exchangePlatformProfile(exchange, context: rig.context) }
        rig.catalogue.change { $0.applications[0].clients = [] }
        await expectFault(.invalidClient) {
            _ = try await rig.service.verifyAccessToken(VerifyAccessTokenRequest(accessToken: bearer), context: rig.context)
        }
    }

    @Test("clients #69, #101: exactly a listed statement of another house makes clients, with the scopes of apps")
    func legacyStatement() async throws {
        let rig = try Rig()
        let statement = "eyJhbGciOiJSUzI1NiJ9.eyJzb2Z0d2FyZV9pZCI6IngifQ.c2lnbmF0dXJl"
        rig.catalogue.change {
            $0.applications[0].legacyStatements = [Hex.encode(SHA256.hash(statement))]
            $0.applications[0].scopes.append("decisions:owner")
        }
        func register(_ statement: String) async throws -> RegisteredClient {
            try await rig.service.registerClient(RegisterClientRequest(softwareStatement: statement), context: rig.context)
        }
        let client = try await register(statement)
        #expect(client.scopes == ["api:client:v1", "api:client:v2"])
        let bearer = try await rig.token(of: client).accessToken
        let verified = try await rig.service.verifyAccessToken(
            VerifyAccessTokenRequest(accessToken: bearer, requestor: "CHAN7"), context: rig.context)
        #expect(!verified.isShared && verified.applicationID == "tv" && verified.scopes == client.scopes)
        await expectFault(.invalidSoftwareStatement) { _ = try await register(statement + "A") }
        await expectFault(.insufficientScope) {
            _ = try await rig.service.verifyAccessToken(VerifyAccessTokenRequest(accessToken: bearer, requestor: "FOREIGN"), context: rig.context)
        }
        rig.catalogue.change { $0.applications[0].legacyStatements = [] }
        await expectFault(.invalidSoftwareStatement) { _ = try await register(statement) }
        await expectFault(.invalidClient) {
            _ = try await rig.service.verifyAccessToken(VerifyAccessTokenRequest(accessToken: bearer), context: rig.context)
        }
    }
}
