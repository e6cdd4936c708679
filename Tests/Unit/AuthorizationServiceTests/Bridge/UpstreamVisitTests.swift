@testable import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Faults
import Synchronization
import Testing

/// One call to authentication that finds the session and brings upstream's decision (bridge §9.1, decision 0074).
@Suite struct UpstreamVisitTests {
    private func fixture(offersVisits: Bool = true, needsIdentity: Bool = false) throws -> AuthorizationFixture {
        let fixture = try AuthorizationFixture { catalogue in
            catalogue.upstreams = [BridgeUpstream(id: "vendor", baseURL: "https://up.example")]
            catalogue.requestors[0].bridge = RequestorBridge(upstreamID: "vendor", serviceProvider: "SEVEN")
            catalogue.integrations[0].bridge = IntegrationBridge()
        }
        signIn(fixture, "session-1", needsIdentity: needsIdentity)
        permit(fixture)
        if offersVisits { fixture.sessions.offerVisits() }
        return fixture
    }

    private func signIn(_ fixture: AuthorizationFixture, _ session: String, needsIdentity: Bool = false) {
        var subject = fixture.subject(session: session)
        subject.bridge = BridgedSession(upstream: "vendor", serviceProvider: "SEVEN", mvpd: "DemoCable", needsIdentity: needsIdentity)
        fixture.table.put(subject, device: "dev-1", requestor: "CHAN7")
    }

    /// Upstream permits, each time with another token.
    private func permit(_ fixture: AuthorizationFixture) {
        let count = Counted()
        fixture.sessions.askUpstream.answer { [fixture] request, _ in Self.permit(request, count.next(), fixture) }
    }

    private static func permit(_ request: AskUpstreamRequest, _ number: Int, _ fixture: AuthorizationFixture) -> UpstreamDecisions {
        UpstreamDecisions(decisions: [
            UpstreamDecision(
                resource: request.resources[0], isPermitted: true, source: "mvpd",
                expiresAtMilliseconds: UInt64((fixture.clock.now() + .seconds(3600)).milliseconds), mediaToken: "token-\(number)",
                mediaTokenExpiresAtMilliseconds: UInt64((fixture.clock.now() + .seconds(420)).milliseconds))
        ])
    }

    private func decide(_ fixture: AuthorizationFixture) async throws -> ResourceDecision {
        var call = fixture.call()
        call.api = .v2
        let request = DecideRequest(call: call, mvpd: "DemoCable", resources: ["CHAN7-HD"])
        return try #require(try await fixture.service.decide(request, context: CallContext()).decisions.first)
    }

    /// Sessions looked for, visits, and questions to upstream.
    private func counts(_ fixture: AuthorizationFixture) -> [Int] {
        [fixture.sessions.findSession.requests.count, fixture.sessions.findSessionToPlay.requests.count, fixture.sessions.askUpstream.requests.count]
    }

    // MARK: One call

    @Test("bridge B62, B63: authorize is one call; its token waits and needs none; the next media token is one call again, about that session alone")
    func asksOnce() async throws {
        let fixture = try fixture()
        _ = try await fixture.authorize()
        #expect(counts(fixture) == [1, 1, 1])
        #expect(try await fixture.mediaToken().serializedToken == "token-1")
        #expect(counts(fixture) == [2, 1, 1])
        #expect(try await fixture.mediaToken().serializedToken == "token-2")
        #expect(counts(fixture) == [3, 2, 2])
        #expect(fixture.sessions.findSessionToPlay.requests.last?.onlySessionID == "session-1")
        #expect(try await fixture.mediaToken().serializedToken == "token-3")
    }

    @Test("bridge B65: within a minute authorize says that it knows the decision, and upstream is not asked; afterwards it is")
    func knowsFreshDecisions() async throws {
        let fixture = try fixture()
        let end = try await fixture.authorize().expiresAtMilliseconds
        fixture.clock.advance(by: .seconds(59))
        #expect(try await fixture.authorize().expiresAtMilliseconds == end)
        #expect(counts(fixture) == [2, 2, 1])
        #expect(fixture.sessions.findSessionToPlay.requests.map(\.settledSessionID) == ["", "session-1"])
        fixture.clock.advance(by: .seconds(2))
        _ = try await fixture.authorize()
        #expect(counts(fixture) == [3, 3, 2])
    }

    @Test("bridge §9.1: while the clock stands before the last decision, that one is not fresh, and its token waits for nobody")
    func clockSetBack() async throws {
        let (first, second) = (try fixture(), try fixture())
        for fixture in [first, second] {
            _ = try await fixture.authorize()
            fixture.clock.set(fixture.clock.now() - .seconds(10))
        }
        #expect(try await first.mediaToken().serializedToken == "token-2")
        _ = try await second.authorize()
        #expect(second.sessions.askUpstream.requests.count == 2)
    }

    @Test("a call of REST v2 takes the token that came with its decision: none waits afterwards, and none is handed out twice")
    func takes() async throws {
        let fixture = try fixture()
        #expect(try await decide(fixture).token?.serializedToken == "token-1")
        #expect(counts(fixture) == [1, 1, 1])
        #expect(try await fixture.mediaToken().serializedToken == "token-2")
        #expect(try await decide(fixture).token?.serializedToken == "token-3")
        #expect(counts(fixture) == [3, 3, 3])
        fixture.clock.advance(by: .seconds(61))
        _ = try await fixture.authorize()
        #expect(try await decide(fixture).token?.serializedToken == "token-4", "the one that waits")
        #expect(fixture.sessions.findSessionToPlay.requests.last?.settledSessionID == "session-1")
        #expect(fixture.sessions.askUpstream.requests.count == 4)
    }

    // MARK: The order

    @Test("bridge B64: without a permit a media token is refused, and upstream is not asked; so after a new login")
    func demandsPermits() async throws {
        let fixture = try fixture()
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound)
        #expect(counts(fixture) == [1, 0, 0])
        _ = try await fixture.authorize()
        signIn(fixture, "session-2")
        _ = await fault { try await fixture.mediaToken() }
        fixture.clock.advance(by: .seconds(61))
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound)
        #expect(fixture.sessions.askUpstream.requests.count == 1)
        #expect(fixture.sessions.findSessionToPlay.requests.last?.onlySessionID == "session-1")
        fixture.clock.advance(by: .seconds(3600))
        signIn(fixture, "session-1")
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound, "its permit is over")
        #expect(fixture.sessions.askUpstream.requests.count == 1)
    }

    @Test("bridge §9.1: a rule in force, Media RSS, a stored token and a resource that cannot be one are asked about once more is known")
    func asksLater() async throws {
        let fixture = try fixture()
        fixture.degrade(.authzNone, mvpd: "OpenTel")
        _ = try await fixture.authorize()
        #expect(counts(fixture) == [1, 0, 1])
        fixture.catalogue.change { $0.degradationRules = [] }
        #expect(await fault { try await fixture.authorize("<rss>") }?.code == .malformedAuthzRequest)
        #expect(await fault { try await fixture.authorize("a\u{7}") }?.code == .malformedAuthzRequest)
        #expect(counts(fixture) == [3, 0, 1])
        _ = try await fixture.authorize("<rss><channel><title>CHAN7</title></channel></rss>")
        #expect(counts(fixture) == [4, 0, 2])
        var call = fixture.call()
        call.storedToken = StoredToken(mvpd: "DemoCable", sessionIndex: "index-1")
        _ = try? await fixture.service.authorize(AuthorizeRequest(call: call, resource: "CHAN7-SD"), context: CallContext())
        #expect(fixture.sessions.findSessionToPlay.requests.isEmpty)
    }

    @Test("bridge B73: after five denials the sixth call asks nobody; a denial takes the permit back")
    func cutsOff() async throws {
        let fixture = try fixture()
        _ = try await fixture.authorize()
        fixture.clock.advance(by: .seconds(61))
        fixture.sessions.askUpstream.answer(
            with: UpstreamDecisions(decisions: [
                UpstreamDecision(resource: "CHAN7-HD", code: "authorization_denied_by_mvpd", action: "none", details: "Not subscribed")
            ]))
        for _ in 0..<5 {
            let denial = await fault { try await fixture.authorize() }
            #expect(denial?.code == .authorizationDeniedByMvpd && denial?.details == "Not subscribed")
        }
        #expect(counts(fixture) == [6, 6, 6])
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByMvpd)
        #expect(counts(fixture) == [7, 6, 6])
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
    }

    @Test("a decision that came with the session counts for nothing where the integration is off, or the app names another MVPD")
    func checksIntegrations() async throws {
        let fixture = try fixture()
        #expect(await fault { try await fixture.authorize(mvpd: "OpenTel") }?.code == .authenticationSessionIssuerMismatch)
        #expect(fixture.sessions.findSessionToPlay.requests.map(\.mvpd) == ["OpenTel"])
        #expect(fixture.sessions.askUpstream.requests.isEmpty)
        fixture.catalogue.change { $0.integrations[0].enabled = false }
        #expect(await fault { try await fixture.authorize() }?.code == .unknownIntegration)
        fixture.catalogue.change { $0.integrations[0].enabled = true }
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
    }

    @Test("bridge B83: at a promotional trial the visit asks only with the person's identity")
    func needsIdentity() async throws {
        let fixture = try fixture(needsIdentity: true)
        #expect(await fault { try await fixture.authorize() }?.code == .invalidRequest)
        #expect(counts(fixture) == [1, 1, 0])
        let request = AuthorizeRequest(call: fixture.call(), resource: "CHAN7-HD", genericData: #"{"email":"a@b.example"}"#)
        _ = try await fixture.service.authorize(request, context: CallContext())
        #expect(fixture.sessions.askUpstream.requests.map(\.genericData) == [#"{"email":"a@b.example"}"#])
    }

    // MARK: Faults and company

    @Test("bridge B94, §9.1: while upstream is away what it permitted holds; without a permit the app hears of it; each call asks once")
    func isAway() async throws {
        let fixture = try fixture()
        _ = try await fixture.authorize()
        fixture.clock.advance(by: .seconds(61))
        fixture.sessions.askUpstream.fail(with: Fault(.upstreamUnavailable, "The provider cannot be asked now."))
        _ = try await fixture.authorize()
        #expect(counts(fixture) == [2, 2, 2])
        let away = await fault { try await fixture.mediaToken() }
        #expect(away?.code == .upstreamUnavailable && away?.message == "The provider cannot be asked now.")
        #expect(await fault { try await fixture.authorize("CHAN7-SD") }?.code == .upstreamUnavailable)
        #expect(await fault { try await decide(fixture) }?.code == .upstreamUnavailable)
        #expect(counts(fixture) == [5, 5, 5])
    }

    @Test("an authentication without visits is asked by two calls, and for a minute not tried again", arguments: [false, true])
    func fallsBack(laterOffers: Bool) async throws {
        let fixture = try fixture(offersVisits: false)
        _ = try await fixture.authorize()
        #expect(counts(fixture) == [1, 1, 1])
        #expect(try await fixture.mediaToken().serializedToken == "token-1")
        #expect(try await fixture.mediaToken().serializedToken == "token-2")
        #expect(try await decide(fixture).token?.serializedToken == "token-3")
        #expect(counts(fixture) == [4, 1, 3])
        if laterOffers { fixture.sessions.offerVisits() }
        fixture.clock.advance(by: .seconds(61))
        #expect(try await fixture.mediaToken().serializedToken == "token-4")
        _ = try await fixture.mediaToken()
        #expect(counts(fixture) == [6, laterOffers ? 3 : 2, 5])
    }

    @Test("bridge B66: ten at once share one decision, with visits and without", arguments: [true, false])
    func shares(offersVisits: Bool) async throws {
        let fixture = try fixture(offersVisits: offersVisits)
        fixture.sessions.askUpstream.answer { [fixture] request, _ in
            // Not before all ten have found their session.
            for _ in 0..<5000 where fixture.sessions.findSession.requests.count < 10 { try await Task.sleep(for: .milliseconds(1)) }
            return Self.permit(request, 1, fixture)
        }
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<10 { group.addTask { try await fixture.authorize().expiresAtMilliseconds } }
            var ends: Set<UInt64> = []
            for try await end in group { ends.insert(end) }
            #expect(ends.count == 1)
        }
        #expect(counts(fixture) == [10, 1, 1])
    }

    @Test("bridge §9.2: who begins to wait for a decision when it is there already is told it, too")
    func waitsForNothing() async throws {
        let flights = DecisionFlights()
        let key = PlayKey(device: "dev-1", requestor: "CHAN7", resource: "CHAN7-HD")
        guard case .opened(let own) = flights.enter(key), case .joined(let others) = flights.enter(key) else { throw Fault(.internal, "no flight") }
        flights.end(own, DecisionFlight.Decided(session: "session-1", result: .failure(Fault(.authorizationDeniedByMvpd, "no"))))
        let told = Counted()
        Task { if await others.decided?.session == "session-1" { _ = told.next() } }
        for _ in 0..<5000 where told.value == 0 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(told.value == 1)
    }

    @Test("a call that is refused, or fails before it decides, leaves nobody waiting")
    func leaves() async throws {
        let fixture = try fixture()
        fixture.table.fail(with: Fault(.accessDenied, "The access token is not accepted."))
        #expect(await fault { try await fixture.authorize() }?.code == .accessDenied)
        fixture.table.fail(with: nil)
        fixture.table.remove(device: "dev-1", requestor: "CHAN7")
        #expect(await fault { try await fixture.authorize() }?.code == .authenticationSessionMissing)
        signIn(fixture, "session-1")
        _ = try await fixture.authorize()
        #expect(fixture.sessions.askUpstream.requests.count == 1)
    }
}

private final class Counted: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
