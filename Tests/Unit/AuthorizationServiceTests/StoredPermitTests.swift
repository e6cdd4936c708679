import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Faults
import Testing
import Tokens

/// Permits as tokens that apps of the vendor's SDKs keep on the device (clients §3).
@Suite struct StoredPermitTests {
    private static let stored = StoredToken(mvpd: "DemoCable", sessionIndex: "handle-1")

    private func fixture() throws -> AuthorizationFixture {
        let fixture = try AuthorizationFixture()
        var subject = fixture.subject()
        (subject.deviceID, subject.sessionIndex, subject.deviceFingerprint) = ("dev-1", "handle-1", "f00d")
        fixture.table.put(subject, device: "dev-1", requestor: "CHAN7")
        return fixture
    }

    private func authorize(_ fixture: AuthorizationFixture, wantsToken: Bool = true, _ stored: StoredToken? = stored) async throws -> String {
        var call = fixture.call()
        call.storedToken = stored
        let request = AuthorizeRequest(call: call, resource: "CHAN7-HD", wantsToken: wantsToken)
        return try await fixture.service.authorize(request, context: CallContext()).token
    }

    private func mediaToken(
        _ fixture: AuthorizationFixture, for token: String, requestor: String = "CHAN7", mvpd: String? = nil
    ) async throws -> MediaToken {
        var call = fixture.call(requestor: requestor)
        call.storedToken = mvpd.map { StoredToken(mvpd: $0) }
        return try await fixture.service.issueMediaToken(ResourceRequest(call: call, authorizationToken: token), context: CallContext())
    }

    @Test("clients #41: the token of a permit says whose it is, for what and until when; nobody gets one unasked, or without a stored session")
    func issues() async throws {
        let fixture = try fixture()
        let token = try await authorize(fixture)
        let claims = StoredTokenClaims(
            guid: AuthorizationFixture.userID, requestor: "CHAN7", mvpd: "DemoCable", fingerprint: "f00d", sessionIndex: "handle-1",
            expiresAt: Timestamp(seconds: (fixture.clock.now() + .seconds(3600)).seconds), resource: "CHAN7-HD")
        #expect(try StoredTokenVerifier(.authorization, keys: fixture.storedTokenKeys).verify(token) == claims)
        #expect(try await authorize(fixture, wantsToken: false).isEmpty)
        #expect(await fault { try await authorize(fixture, nil) }?.code == .invalidRequest)
    }

    @Test("clients §3: a media token for a permit's token is for its resource, and the session that it names is asked for")
    func opens() async throws {
        let fixture = try fixture()
        let token = try await authorize(fixture)
        for mvpd in [nil, "", "DemoCable"] {
            let media = try await mediaToken(fixture, for: token, mvpd: mvpd)
            #expect(media.resource == "CHAN7-HD" && media.mvpd == "DemoCable" && media.requestor == "CHAN7")
            #expect(fixture.sessions.findSession.requests.last?.call?.storedToken == Self.stored)
        }
    }

    @Test("clients §3: a permit's token of another requestor, MVPD or key, one that is over and what is none are refused")
    func refuses() async throws {
        let fixture = try fixture()
        let token = try await authorize(fixture)
        let asked = fixture.sessions.findSession.requests.count
        #expect(await fault { try await mediaToken(fixture, for: token, requestor: "CHAN8") }?.code == .authenticationSessionMissing)
        #expect(await fault { try await mediaToken(fixture, for: token, mvpd: "OpenTel") }?.code == .authenticationSessionMissing)
        let foreign = try await authorize(self.fixture())
        #expect(await fault { try await mediaToken(fixture, for: foreign) }?.code == .authenticationSessionMissing)
        #expect(await fault { try await mediaToken(fixture, for: "another's") }?.code == .authenticationSessionMissing)
        #expect(await fault { try await mediaToken(fixture, for: "<!DOCTYPE x>" + token) }?.code == .invalidRequest)
        fixture.clock.advance(by: .seconds(3600) - .milliseconds(1))
        _ = try await mediaToken(fixture, for: token)
        fixture.clock.advance(by: .milliseconds(1))
        #expect(await fault { try await mediaToken(fixture, for: token) }?.code == .authenticationSessionMissing)
        #expect(fixture.sessions.findSession.requests.count == asked + 1, "none of the refused ones costs a question")
        #expect(fixture.counts("foreign_tokens_total") == ["": 2], "another key's, and what is no token of ours")
    }

    @Test("clients §3: with a stored permit an app hears of a rule that denies, where other calls find no permit")
    func hearsOfRules() async throws {
        let fixture = try fixture()
        let token = try await authorize(fixture)
        fixture.degrade(.authzNone, message: "Later")
        let denial = await fault { try await mediaToken(fixture, for: token) }
        #expect(denial?.code == .authorizationDeniedByDegradationRule && denial?.details == "Later")
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound)
    }
}
