import Clocks
import Contracts
import Doubles
import Faults
import Testing

/// The effect of the rules of rest-v1 §6.1 on decisions.
@Suite struct DegradationTests {
    @Test("rest-v1 #92, #93, mvpd #108: AuthN-All and AuthZ-All permit without the MVPD", arguments: [DegradationKind.authnAll, .authzAll])
    func permitsWithoutTheMvpd(kind: DegradationKind) async throws {
        let fixture = try AuthorizationFixture()
        fixture.degrade(kind)
        let permit = try await fixture.authorize()
        #expect(permit.expiresAtMilliseconds == UInt64((fixture.clock.now() + .seconds(600)).milliseconds), "ends with the rule")
        #expect(try await fixture.authorize() == permit)
        #expect(try await fixture.token() == permit)
        #expect(try await fixture.mediaToken().mvpd == "DemoCable")
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("rest-v1 §6.1: a degraded permit ends with the TTL when that comes first")
    func endsWithTheTTL() async throws {
        let fixture = try AuthorizationFixture()
        fixture.degrade(.authzAll, for: .seconds(7200))
        #expect(try await fixture.authorize().expiresAtMilliseconds == UInt64((fixture.clock.now() + .seconds(3600)).milliseconds))
    }

    @Test("rest-v1 §6.1: under a rule the MVPD's own permit goes on, and so does the rule's, to the end that was told")
    func keepsPermits() async throws {
        let fixture = try AuthorizationFixture()
        let permit = try await fixture.authorize()
        fixture.degrade(.authzAll, for: .seconds(7200))
        fixture.clock.advance(by: .seconds(60))
        #expect(try await fixture.authorize() == permit)
        let excused = try await fixture.authorize("CHAN7-SD")
        fixture.clock.advance(by: .seconds(60))
        #expect(try await fixture.authorize("CHAN7-SD") == excused)
    }

    @Test("rest-v1 §6.1: AuthZ-All still needs a session")
    func needsASession() async throws {
        let fixture = try AuthorizationFixture()
        fixture.degrade(.authzAll)
        #expect(await fault { try await fixture.authorize(device: "dev-2") }?.code == .authenticationSessionMissing)
        #expect(await fault { try await fixture.authorize(device: "dev-2", mvpd: "DemoCable") }?.code == .authenticationSessionMissing)
    }

    @Test("rest-v1 #94, mvpd #108: AuthZ-None denies with its message, whatever is cached; nothing asks the MVPD")
    func deniesWithItsMessage() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        fixture.degrade(.authzNone, message: "Back at\n noon")
        let denial = await fault { try await fixture.authorize() }
        #expect(denial?.code == .authorizationDeniedByDegradationRule)
        #expect(denial?.details == "Back at noon")
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound)
        #expect(fixture.transport.requestCount == 1)
        #expect(
            await fault { try await fixture.authorize(device: "dev-2", mvpd: "DemoCable") }?.code == .authorizationDeniedByDegradationRule,
            "rest-v1 §2.8: degradation comes before the session")
        fixture.catalogue.change { $0.degradationRules = [] }
        _ = try await fixture.authorize()
        _ = try await fixture.mediaToken()
        #expect(fixture.transport.requestCount == 1, "the MVPD's own permit counts again")
    }

    @Test("rest-v1 #95: when the rule ends or goes, its permits end and the MVPD is asked again", arguments: [false, true])
    func endsWithTheRule(isRemoved: Bool) async throws {
        let fixture = try AuthorizationFixture()
        fixture.degrade(.authzAll)
        _ = try await fixture.authorize()
        if isRemoved {
            fixture.catalogue.change { $0.degradationRules = [] }
        } else {
            fixture.clock.advance(by: .seconds(600))
        }
        #expect(await fault { try await fixture.token() }?.code == .authorizationExpired)
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound)
        _ = try await fixture.authorize()
        #expect(fixture.transport.requestCount == 1)
        _ = try await fixture.mediaToken()
    }

    @Test("rest-v1 #95: a session made by a rule has no user that the MVPD could be asked about")
    func neverAsksAboutADegradedSession() async throws {
        let fixture = try AuthorizationFixture()
        fixture.signIn(kind: .degraded)
        #expect(await fault { try await fixture.authorize() }?.code == .authenticationSessionExpired)
        #expect(await fault { try await fixture.preauthorize("A") }?.code == .authenticationSessionExpired)
        #expect(fixture.transport.requestCount == 0)
        fixture.degrade(.authnAll)
        _ = try await fixture.authorize()
    }

    @Test("rest-v1 §6.1: AuthZ-None comes before AuthN-All and AuthZ-All")
    func keepsThePrecedence() async throws {
        let fixture = try AuthorizationFixture()
        fixture.degrade(.authnAll, id: "a")
        fixture.degrade(.authzAll, id: "b")
        fixture.degrade(.authzNone, resources: ["CHAN7-HD"], id: "c")
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByDegradationRule)
        _ = try await fixture.authorize("CHAN7-SD")
        #expect(try await fixture.preauthorize("CHAN7-HD,CHAN7-SD").resources.map(\.authorized) == [false, true])
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("rest-v1 §6.1: a rule concerns its requestor, MVPD, resources, platforms and time only")
    func keepsItsBounds() async throws {
        let fixture = try AuthorizationFixture()
        fixture.degrade(.authzNone, resources: ["CHAN7-SD"], id: "a")
        fixture.degrade(.authzNone, id: "b", mvpd: "OpenTel")
        fixture.degrade(.authzNone, id: "c", platforms: [.roku])
        fixture.degrade(.authzNone, for: .zero, id: "d")
        let later = UInt64((fixture.clock.now() + .seconds(60)).milliseconds)
        fixture.catalogue.change { $0.degradationRules[3] = $0.degradationRules[0] }
        fixture.catalogue.change {
            $0.degradationRules[3].resources = []
            $0.degradationRules[3].startsAtMilliseconds = later
        }
        _ = try await fixture.authorize()
        #expect(await fault { try await fixture.authorize("CHAN7-SD") }?.code == .authorizationDeniedByDegradationRule)
        let programme = "<rss version=\"2.0\"><channel><title>CHAN7-SD</title><item><guid>g</guid></item></channel></rss>"
        #expect(await fault { try await fixture.authorize(programme) }?.code == .authorizationDeniedByDegradationRule, "a channel's programme")
        fixture.clock.advance(by: .seconds(60))
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByDegradationRule)
    }

    @Test("rest-v1 #93: AuthZ-All answers a whole preauthorization once it covers one resource")
    func answersPreauthorizations() async throws {
        let fixture = try AuthorizationFixture()
        fixture.degrade(.authzAll, resources: ["A"])
        fixture.transport.answer(Xacml.response(Xacml.result("Deny", resource: "B"), Xacml.result("Deny", resource: "C")))
        #expect(try await fixture.preauthorize("B,A").resources.map(\.authorized) == [true, true])
        #expect(fixture.transport.requestCount == 0)
        #expect(try await fixture.preauthorize("B,C").resources.map(\.authorized) == [false, false])
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("rest-v1 #94: AuthZ-None denies the covered items of a preauthorization; the MVPD is asked about the others")
    func deniesCoveredItems() async throws {
        let fixture = try AuthorizationFixture()
        fixture.degrade(.authzNone, resources: ["A"], message: "Later")
        fixture.transport.answer(Xacml.response(Xacml.result("Permit", resource: "B")))
        let reply = try await fixture.preauthorize("A,B")
        #expect(reply.resources.map(\.authorized) == [false, true])
        #expect(reply.resources[0].refusal == ResourceRefusal(code: "authorization_denied_by_degradation_rule", details: "Later"))
        #expect(!reply.isPartial)
        #expect(try await fixture.preauthorize("A").resources.map(\.authorized) == [false])
        #expect(fixture.transport.requestCount == 1)
    }
}
