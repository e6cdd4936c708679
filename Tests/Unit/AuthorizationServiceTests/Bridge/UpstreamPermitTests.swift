import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Faults
import Testing

/// The life of what upstreams permit: permits to play, and those that are told beforehand (bridge §9.1, §9.5).
@Suite struct UpstreamPermitTests {
    private func fixture() throws -> AuthorizationFixture {
        let fixture = try AuthorizationFixture { catalogue in
            catalogue.upstreams = [BridgeUpstream(id: "vendor", baseURL: "https://up.example")]
            catalogue.requestors[0].bridge = RequestorBridge(upstreamID: "vendor", serviceProvider: "SEVEN")
            catalogue.integrations[0].bridge = IntegrationBridge()
        }
        signIn(fixture, "session-1")
        permit(fixture)
        return fixture
    }

    private func signIn(_ fixture: AuthorizationFixture, _ session: String) {
        var subject = fixture.subject(session: session)
        subject.bridge = BridgedSession(upstream: "vendor", serviceProvider: "SEVEN", mvpd: "DemoCable")
        fixture.table.put(subject, device: "dev-1", requestor: "CHAN7")
    }

    /// Upstream permits everything but these.
    private func permit(_ fixture: AuthorizationFixture, but denied: Set<String> = []) {
        fixture.sessions.askUpstream.answer { [clock = fixture.clock] request, _ in
            let end = UInt64((clock.now() + .seconds(3600)).milliseconds)
            return UpstreamDecisions(
                decisions: request.resources.map { resource in
                    guard !denied.contains(resource) else { return UpstreamDecision(resource: resource, code: "authorization_denied_by_mvpd") }
                    return UpstreamDecision(
                        resource: resource, isPermitted: true, source: "mvpd", expiresAtMilliseconds: end, mediaToken: "token",
                        mediaTokenExpiresAtMilliseconds: end)
                })
        }
    }

    private func answer(_ fixture: AuthorizationFixture, _ code: String, action: String) {
        fixture.sessions.askUpstream.answer { request, _ in
            UpstreamDecisions(decisions: request.resources.map { UpstreamDecision(resource: $0, code: code, action: action) })
        }
    }

    /// All questions so far.
    private func asked(_ fixture: AuthorizationFixture) -> [[String]] { fixture.sessions.askUpstream.requests.map(\.resources) }

    // MARK: To play

    @Test(
        "bridge §9.1, B94: an item that decides nothing leaves the stored permit as it is",
        arguments: [
            ("network_received_error", "retry", .networkReceivedError), ("network_connection_timeout", "retry", .networkConnectionTimeout),
            ("maximum_execution_time_exceeded", "retry", .maximumExecutionTimeExceeded),
            ("authenticated_profile_missing", "authentication", .authenticationSessionMissing), ("too_many_resources", "none", .tooManyResources),
            ("invalid_integration", "none", .unknownIntegration), ("invalid_header_device_identifier", "none", .internal),
            ("something_new", "retry", .networkReceivedError), ("something_new", "authentication", .authenticationSessionInvalidated),
        ] as [(String, String, Fault.Code)])
    func keeps(_ code: String, _ action: String, _ told: Fault.Code) async throws {
        let fixture = try fixture()
        let permit = try await fixture.authorize()
        _ = try await fixture.mediaToken()
        fixture.clock.advance(by: .seconds(61))
        answer(fixture, code, action: action)
        #expect(await fault { try await fixture.authorize() }?.code == told)
        #expect(await fault { try await fixture.mediaToken() }?.code == told)
        #expect(try await fixture.token().expiresAtMilliseconds == permit.expiresAtMilliseconds)
        self.permit(fixture)
        #expect(try await fixture.mediaToken().serializedToken == "token", "no authorization is needed anew")
    }

    @Test("bridge §9.1: an item by which upstream cannot answer is an outage, in which the permit stands in")
    func standsIn() async throws {
        let fixture = try fixture()
        let permit = try await fixture.authorize()
        fixture.clock.advance(by: .seconds(61))
        answer(fixture, "internal_server_error", action: "retry")
        #expect(try await fixture.authorize().expiresAtMilliseconds == permit.expiresAtMilliseconds)
    }

    @Test(
        "bridge §9.1, B67: a no takes the permit back",
        arguments: [
            ("authorization_denied_by_mvpd", .authorizationDeniedByMvpd),
            ("authorization_denied_by_session_invalidated", .authorizationDeniedBySessionInvalidated),
            ("temporary_access_resources_limit_exceeded", .authorizationDeniedByMvpd), ("something_new", .authorizationDeniedByMvpd),
        ] as [(String, Fault.Code)])
    func takesBack(_ code: String, _ told: Fault.Code) async throws {
        let fixture = try fixture()
        _ = try await fixture.authorize()
        fixture.clock.advance(by: .seconds(61))
        answer(fixture, code, action: "none")
        #expect(await fault { try await fixture.authorize() }?.code == told)
        permit(fixture)
        #expect(await fault { try await fixture.mediaToken() } != nil)
        #expect(await fault { try await fixture.token() } != nil)
    }

    @Test("bridge §9.1: a no where no permit holds writes nothing, and a further one after it neither")
    func takesBackOnce() async throws {
        let fixture = try fixture()
        func deny() async { #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByMvpd) }
        answer(fixture, "authorization_denied_by_mvpd", action: "none")
        await deny()
        #expect(fixture.store.saves == 0)
        permit(fixture)
        _ = try await fixture.authorize()
        #expect(fixture.store.saves == 1)
        fixture.clock.advance(by: .seconds(61))
        answer(fixture, "authorization_denied_by_mvpd", action: "none")
        await deny()
        #expect(fixture.store.saves == 2)
        await deny()
        #expect(fixture.store.saves == 2)
    }

    // MARK: To know beforehand

    private func told(_ fixture: AuthorizationFixture, _ resources: String) async throws -> [Bool] {
        try await fixture.preauthorize(resources).resources.map(\.authorized)
    }

    @Test("bridge §9.5: a permit is told again for a minute without a question, a denial is not; only what is open is asked")
    func remembers() async throws {
        let fixture = try fixture()
        permit(fixture, but: ["b"])
        #expect(try await told(fixture, "a,b,c") == [true, false, true])
        #expect(asked(fixture) == [["a", "b", "c"]])
        permit(fixture)
        #expect(try await told(fixture, "d,a,b,c") == [true, true, true, true])
        #expect(asked(fixture) == [["a", "b", "c"], ["d", "b"]])
        fixture.clock.advance(by: .milliseconds(59_999))
        #expect(try await told(fixture, "a,b,c,d") == [true, true, true, true])
        #expect(asked(fixture).count == 2)
        fixture.clock.advance(by: .milliseconds(1))
        permit(fixture, but: ["a"])
        #expect(try await told(fixture, "a,b,c,d") == [false, true, true, true])
        #expect(asked(fixture).last == ["a", "b", "c", "d"])
    }

    @Test("bridge §9.5, §13: with upstream away what is remembered is told; where anything is open nothing is")
    func outlives() async throws {
        let fixture = try fixture()
        #expect(try await told(fixture, "a,b") == [true, true])
        fixture.sessions.askUpstream.answer { _, _ in throw Fault(.upstreamUnavailable, "away") }
        #expect(try await told(fixture, "b,a") == [true, true])
        #expect(await fault { try await fixture.preauthorize("a,c") }?.code == .upstreamUnavailable)
    }

    @Test("bridge §9.5: it is no permit to play, belongs to its session, and a denied play ends it")
    func isNoPermit() async throws {
        let fixture = try fixture()
        #expect(try await told(fixture, "a") == [true])
        #expect(await fault { try await fixture.mediaToken("a") } != nil)
        #expect(asked(fixture).count == 1)
        signIn(fixture, "session-2")
        #expect(try await told(fixture, "a") == [true])
        #expect(asked(fixture).count == 2, "another login is asked about")
        permit(fixture, but: ["a"])
        #expect(await fault { try await fixture.authorize("a") }?.code == .authorizationDeniedByMvpd)
        #expect(try await told(fixture, "a") == [false])
    }

    @Test("bridge §9.5, §10.3: a rule of ours comes before what is remembered")
    func comesAfterRules() async throws {
        let fixture = try fixture()
        #expect(try await told(fixture, "a") == [true])
        fixture.degrade(.authzNone)
        #expect(try await told(fixture, "a") == [false])
    }
}
