import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Cryptography
import Faults
import ManualClocks
import Testing
import Tokens

/// Plays that an upstream permits (bridge §9, §10.1).
@Suite struct UpstreamPlayTests {
    private func fixture(
        tokensOf checked: String? = nil, trusted: Cryptography.Certificate? = nil, needsIdentity: Bool = false
    ) throws -> AuthorizationFixture {
        let fixture = try AuthorizationFixture(tokensOf: checked, trusted: trusted) { catalogue in
            catalogue.upstreams = [BridgeUpstream(id: "vendor", baseURL: "https://up.example")]
            catalogue.requestors[0].bridge = RequestorBridge(upstreamID: "vendor", serviceProvider: "SEVEN")
            catalogue.integrations[0].bridge = IntegrationBridge()
        }
        var subject = fixture.subject()
        subject.bridge = BridgedSession(upstream: "vendor", serviceProvider: "SEVEN", mvpd: "DemoCable", needsIdentity: needsIdentity)
        fixture.table.put(subject, device: "dev-1", requestor: "CHAN7")
        return fixture
    }

    /// Upstream permits with a token that the fixture's key has signed.
    /// - Parameter lag: Upstream's clock is that far behind.
    private func permit(
        _ fixture: AuthorizationFixture, serviceProvider: String = "SEVEN", resource: String = "CHAN7-HD", lag: Duration = .zero
    ) async throws {
        let issuer = MediaTokenIssuer(
            referenceKey: ReferenceSigningKey(try AuthorizationFixture.key.get()), jwsKeys: fixture.jwsKeys, pool: SigningPool(threads: 1),
            clock: ManualClock(fixture.clock.now() - lag))
        let play = MediaTokenIssuer.Play(
            sessionGUID: "guid-1", requestor: serviceProvider, resource: resource, mvpd: "DemoCable", proxyMvpd: "ProxyNet", ttl: .seconds(420))
        let token = try await issuer.issue(play, form: .reference).serialized
        let end = UInt64((fixture.clock.now() + .seconds(420)).milliseconds)
        fixture.sessions.askUpstream.answer { request, _ in
            UpstreamDecisions(decisions: [
                UpstreamDecision(
                    resource: request.resources[0], isPermitted: true, source: "mvpd", mediaToken: token, mediaTokenExpiresAtMilliseconds: end)
            ])
        }
    }

    @Test("bridge B68, B70: a permit without times ends with its media token, which passes as it is and names the MVPD in between")
    func passes() async throws {
        let fixture = try fixture()
        try await permit(fixture)
        let decision = try await fixture.authorize()
        #expect(decision.expiresAtMilliseconds == UInt64((fixture.clock.now() + .seconds(420)).milliseconds))
        #expect(decision.proxyMvpd == "ProxyNet")
        let media = try await fixture.mediaToken()
        #expect(media.userID == "guid-1" && media.proxyMvpd == "ProxyNet")
        #expect(media.issuedAtMilliseconds == UInt64(fixture.clock.now().milliseconds))
        #expect(fixture.sessions.askUpstream.requests.count == 1)
    }

    @Test("bridge §9.1: a media token alone updates a permit's end where it gains more than a tenth; an authorization always does")
    func updates() async throws {
        let fixture = try fixture()
        func end() async throws -> Int64 { Int64(try await fixture.token().expiresAtMilliseconds) - fixture.clock.now().milliseconds }
        try await permit(fixture)
        _ = try await fixture.authorize()
        _ = try await fixture.mediaToken()
        fixture.clock.advance(by: .seconds(40))
        try await permit(fixture)
        _ = try await fixture.mediaToken()
        #expect(try await end() == 380_000)
        fixture.clock.advance(by: .seconds(5))
        try await permit(fixture)
        _ = try await fixture.mediaToken()
        #expect(try await end() == 420_000)
        fixture.clock.advance(by: .seconds(70))
        try await permit(fixture)
        _ = try await fixture.authorize()
        #expect(try await end() == 420_000)
        #expect(fixture.sessions.askUpstream.requests.count == 4)
    }

    @Test("bridge B70: a token that nobody can read passes too; the user's id is the session's")
    func passesGarbage() async throws {
        let fixture = try fixture()
        let end = UInt64((fixture.clock.now() + .seconds(420)).milliseconds)
        fixture.sessions.askUpstream.answer { request, _ in
            UpstreamDecisions(decisions: [
                UpstreamDecision(resource: request.resources[0], isPermitted: true, mediaToken: "garbage!", mediaTokenExpiresAtMilliseconds: end)
            ])
        }
        _ = try await fixture.authorize()
        let media = try await fixture.mediaToken()
        #expect(media.serializedToken == "garbage!" && media.userID == AuthorizationFixture.userID && media.proxyMvpd.isEmpty)
    }

    @Test("bridge B78: where the certificate is known, a token for another channel, another resource or of another key is not handed on")
    func checks() async throws {
        let trusted = try fixture(tokensOf: "vendor")
        try await permit(trusted)
        _ = try await trusted.authorize()
        #expect(try await trusted.mediaToken().userID == "guid-1")
        trusted.clock.advance(by: .seconds(500))
        try await permit(trusted, serviceProvider: "EIGHT")
        await #expect(throws: Fault.self) { _ = try await trusted.mediaToken() }
        _ = try await trusted.authorize()
        let fault = await #expect(throws: Fault.self) { _ = try await trusted.mediaToken() }
        #expect(fault?.code == .internal)
        trusted.clock.advance(by: .seconds(61))
        try await permit(trusted, resource: "CHAN7-OTHER")
        _ = try await trusted.authorize()
        #expect(await #expect(throws: Fault.self) { _ = try await trusted.mediaToken() }?.code == .internal)
        let foreign = try CertifiedKey.selfSigned(commonName: "another", key: .p256(.generate())).certificate
        let strict = try fixture(tokensOf: "vendor", trusted: foreign)
        try await permit(strict)
        _ = try await strict.authorize()
        #expect(await #expect(throws: Fault.self) { _ = try await strict.mediaToken() }?.code == .internal)
        let other = try fixture(tokensOf: "another", trusted: foreign)
        try await permit(other)
        _ = try await other.authorize()
        #expect(try await other.mediaToken().userID == "guid-1")
    }

    @Test("bridge §9.4: a token that is over by our clock is handed on, unless it is for another channel")
    func leavesTheEndToUpstream() async throws {
        for (channel, code) in [("SEVEN", nil), ("EIGHT", .internal)] as [(String, Fault.Code?)] {
            let fixture = try fixture(tokensOf: "vendor")
            try await permit(fixture, serviceProvider: channel, lag: .seconds(500))
            _ = try await fixture.authorize()
            #expect(await fault { try await fixture.mediaToken() }?.code == code)
        }
    }

    @Test("bridge B83: at a promotional trial an authorization says who the person is, a media token call need not")
    func needsIdentity() async throws {
        let fixture = try fixture(needsIdentity: true)
        try await permit(fixture)
        let fault = await #expect(throws: Fault.self) { _ = try await fixture.authorize() }
        #expect(fault?.code == .invalidRequest)
        #expect(fixture.sessions.askUpstream.requests.isEmpty)
        let request = AuthorizeRequest(call: fixture.call(), resource: "CHAN7-HD", genericData: #"{"email":"a@b.example"}"#)
        _ = try await fixture.service.authorize(request, context: CallContext())
        #expect(fixture.sessions.askUpstream.requests.map(\.genericData) == [#"{"email":"a@b.example"}"#])
        _ = try await fixture.mediaToken()
        _ = try await fixture.mediaToken()
        #expect(fixture.sessions.askUpstream.requests.last?.genericData == "")
    }

    @Test("bridge §14.1: decisions, media tokens and permits that stood in for upstream are counted, by words that are known")
    func counts() async throws {
        let fixture = try fixture()
        func told(_ metric: String) -> Set<String> {
            let prefix = "boxoffice_authorization_bridge_\(metric)"
            return Set(fixture.numbers.text().split(separator: "\n").filter { $0.hasPrefix(prefix + "{") }.map { String($0.dropFirst(prefix.count)) })
        }
        try await permit(fixture)
        _ = try await fixture.authorize()
        _ = try await fixture.mediaToken()
        _ = try await fixture.mediaToken()
        #expect(told("media_tokens_total") == [#"{origin="held",upstream="vendor"} 1"#, #"{origin="live",upstream="vendor"} 1"#])
        #expect(told("decisions_total") == [#"{outcome="permit",source="mvpd",upstream="vendor"} 2"#])
        fixture.clock.advance(by: .seconds(61))
        fixture.sessions.askUpstream.answer { _, _ in throw Fault(.upstreamUnavailable, "away") }
        _ = try await fixture.authorize()
        #expect(told("stale_answers_total") == [#"{kind="permit",upstream="vendor"} 1"#])
        fixture.sessions.askUpstream.answer { request, _ in
            UpstreamDecisions(decisions: [
                UpstreamDecision(resource: request.resources[0], source: "someone new", code: "authorization_denied_by_mvpd")
            ])
        }
        #expect(await #expect(throws: Fault.self) { _ = try await fixture.authorize() }?.code == .authorizationDeniedByMvpd)
        #expect(
            told("decisions_total") == [
                #"{outcome="permit",source="mvpd",upstream="vendor"} 2"#, #"{outcome="error",source="none",upstream="vendor"} 1"#,
                #"{outcome="deny",source="other",upstream="vendor"} 1"#,
            ])
        #expect(fixture.numbers.text().contains("# HELP boxoffice_authorization_bridge_decisions_total "))
    }

    @Test("bridge §10.3: rules that let in and permit are without effect where verifiers do not trust our tokens; one that refuses needs no upstream")
    func minds() async throws {
        let fixture = try fixture()
        fixture.degrade(.authzNone)
        #expect(await #expect(throws: Fault.self) { _ = try await fixture.authorize() }?.code == .authorizationDeniedByDegradationRule)
        #expect(fixture.sessions.askUpstream.requests.isEmpty)
        fixture.catalogue.change { $0.degradationRules = [] }
        fixture.degrade(.authzAll)
        try await permit(fixture)
        #expect(try await fixture.authorize().proxyMvpd == "ProxyNet")
        fixture.catalogue.change { $0.requestors[0].bridge?.localMediaTokens = true }
        #expect(try await fixture.authorize("CHAN7-NEWS").proxyMvpd.isEmpty, "it is ours")
        #expect(fixture.sessions.askUpstream.requests.count == 1)
    }
}
