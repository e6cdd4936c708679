import Catalogue
import Clocks
import Contracts
import Cryptography
import Faults
import Logging
import Testing
import Tokens

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct AccessTokenTests {
    @Test("rest-v1 #6, #97: good credentials give a token", arguments: Backend.allCases)
    func issues(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let token = try await rig.token(of: rig.register())
        #expect(token.createdAtMilliseconds == UInt64(t0.milliseconds))
        #expect(token.expiresInSeconds == 21_600)
        #expect(token.requestorIDs == ["CHAN7", "CHAN8"], "rest-v1 #116: whose pages may read it")
        #expect(!token.id.isEmpty)
        let client = try await verify(rig, token.accessToken)
        #expect(client.applicationID == "tv")
        #expect(client.requestorIDs == ["CHAN7", "CHAN8"])
        #expect(client.scopes == ["api:client:v1"])
        #expect(client.expiresAtMilliseconds == UInt64((t0 + .seconds(21_600)).milliseconds))
    }

    @Test("rest-v1 #7: a wrong secret or an unknown client")
    func refusesWrongSecret() async throws {
        let rig = try Rig()
        let client = try await rig.register()
        for (id, secret) in [(client.clientID, "wrong"), ("unknown", client.clientSecret), (client.clientID.uppercased(), client.clientSecret)] {
            await expectFault(.invalidClient) { _ = try await issue(rig, id, secret) }
        }
    }

    @Test("rest-v1 #8: another grant type")
    func refusesOtherGrant() async throws {
        let rig = try Rig()
        let client = try await rig.register()
        await expectFault(.unsupportedGrantType) { _ = try await issue(rig, client.clientID, client.clientSecret, grant: "password") }
    }

    @Test("A missing parameter")
    func refusesMissingParameters() async throws {
        let rig = try Rig()
        let client = try await rig.register()
        for (id, secret, grant) in [
            ("", client.clientSecret, "client_credentials"), (client.clientID, "", "client_credentials"), (client.clientID, client.clientSecret, ""),
        ] {
            await expectFault(.invalidRequest) { _ = try await issue(rig, id, secret, grant: grant) }
        }
    }

    @Test("A revoked statement gives no more tokens")
    func refusesRevokedStatement() async throws {
        let rig = try Rig()
        let client = try await rig.register()
        rig.catalogue.change { $0.applications.removeAll { $0.id == "tv" } }
        await expectFault(.invalidClient) { _ = try await rig.token(of: client) }
    }

    @Test("rest-v1 #10: an expired bearer, also one that was checked before")
    func refusesExpired() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        _ = try await verify(rig, bearer)
        let unseen = try await rig.bearer()
        rig.clock.advance(by: .seconds(21_599))
        _ = try await verify(rig, bearer)
        rig.clock.advance(by: .seconds(1))
        await expectFault(.accessDenied) { _ = try await verify(rig, bearer) }
        await expectFault(.accessDenied) { _ = try await verify(rig, unseen) }
    }

    @Test("rest-v1 §2.2: absent, malformed, or signed by another key")
    func refusesForeign() async throws {
        let rig = try Rig()
        let good = try await rig.bearer()
        let foreign = try await Rig().bearer()
        for bearer in ["", "x", "a.b.c", foreign, good + "x", String(good.dropLast(4)) + "AAAA"] {
            await expectFault(.accessDenied) { _ = try await verify(rig, bearer) }
        }
    }

    @Test("rest-v1 #11: a statement revoked after the token was issued and checked")
    func refusesAfterRevocation() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        _ = try await verify(rig, bearer)
        rig.catalogue.change { $0.applications[0].softwareIDs = [] }
        await expectFault(.invalidClient) { _ = try await verify(rig, bearer) }
        rig.catalogue.change { $0.applications[0].softwareIDs = ["software-tv"] }
        _ = try await verify(rig, bearer)
    }

    @Test("A token of a client that the store does not know")
    func refusesGoneClient() async throws {
        let rig = try Rig()
        let keys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate())))
        let check = BearerCheck(
            tokens: AccessTokenVerifier(keys: keys, issuer: "sp", audience: "api", clock: rig.clock), catalogue: rig.catalogue,
            store: rig.store, clock: rig.clock, metrics: AuthenticationMetrics(),
            signatures: SignedRequestCheck(
                secrets: RecentSecrets(NoSecrets(), clock: rig.clock), nonces: UsedNonces(store: rig.store), clock: rig.clock,
                logger: Logger(label: "test")),
            serviceTokens: ServiceTokenCheck(keys: rig.serviceTokenKeys, store: rig.store, clock: rig.clock),
            platforms: PlatformIdentities(clock: rig.clock, secrets: NoSecrets(), logger: Logger(label: "test")))
        let token = try AccessTokenIssuer(keys: keys, issuer: "sp", audience: "api", clock: rig.clock)
            .issue(client: "gone", scopes: ["api:client:v1"])
        await expectFault(.invalidClient) { _ = try await check.client(token.token, requestor: "") }
    }

    @Test("rest-v1 #12: a token of one requestor's application used for another")
    func refusesForeignRequestor() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        await expectFault(.insufficientScope) { _ = try await verify(rig, bearer, requestor: "FOREIGN") }
        await expectFault(.invalidRequestor) { _ = try await verify(rig, bearer, requestor: "NOBODY") }
        _ = try await verify(rig, bearer, requestor: "CHAN8")
    }

    @Test("rest-v1 §2.2: a token without the scope of this API")
    func refusesOtherScope() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer("old")
        await expectFault(.insufficientScope) { _ = try await verify(rig, bearer) }
    }

    @Test("A missing catalogue is no verdict about the token")
    func reportsMissingCatalogue() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        rig.catalogue.publish(nil)
        await expectFault(.unavailable) { _ = try await verify(rig, bearer) }
    }

    private func verify(_ rig: Rig, _ bearer: String, requestor: String = "") async throws -> VerifiedClient {
        let request = VerifyAccessTokenRequest(accessToken: bearer, requestor: requestor)
        return try await rig.service.verifyAccessToken(request, context: rig.context)
    }

    private func issue(_ rig: Rig, _ id: String, _ secret: String, grant: String = "client_credentials") async throws -> AccessToken {
        let request = IssueAccessTokenRequest(clientID: id, clientSecret: secret, grantType: grant)
        return try await rig.service.issueAccessToken(request, context: rig.context)
    }
}

private struct NoSecrets: ClientSecrets {
    func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret? { nil }
}
