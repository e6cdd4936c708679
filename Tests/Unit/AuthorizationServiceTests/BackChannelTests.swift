import AuthorizationService
import ContractRuntime
import Contracts
import Doubles
import Faults
import Synchronization
import Testing

/// Access tokens, limits and strategies of the back channel (mvpd §3, §4.3, §4.4).
@Suite struct BackChannelTests {
    private func bearing(_ fixture: AuthorizationFixture) {
        var subject = fixture.subject()
        subject.upstreamSessionID = "upstream-1"
        fixture.table.put(subject, device: "dev-1", requestor: "CHAN7")
    }

    @Test("mvpd §4.1: with OAuth an access token is the bearer, fetched for each decision; the subject may be left out")
    func sendsABearer() async throws {
        let fixture = try AuthorizationFixture {
            $0.mvpds[0].authorization?.queryAuthentication = .bearer
            $0.mvpds[0].authorization?.omitSubject = true
        }
        bearing(fixture)
        fixture.sessions.getUpstreamToken.answer(with: UpstreamToken(accessToken: "upstream-token"))
        _ = try await fixture.authorize()
        let message = try #require(fixture.transport.messages.first)
        #expect(message.headers.contains { $0.name == "authorization" && $0.value == "Bearer upstream-token" })
        #expect(!String(decoding: message.body ?? [], as: UTF8.self).contains("subscriber-9"))
        #expect(fixture.sessions.getUpstreamToken.requests.map(\.upstreamSessionID) == ["upstream-1"])
    }

    @Test("mvpd §3: a refused refresh token, or a sign-in without OAuth, means signing in again; the decision point is not asked")
    func needsAnAccessToken() async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.queryAuthentication = .bearer }
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedBySessionInvalidated)
        bearing(fixture)
        fixture.sessions.getUpstreamToken.fail(with: Fault(.authorizationDeniedBySessionInvalidated, "norefreshtoken"))
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedBySessionInvalidated)
        let reply = try await fixture.preauthorize("A,B")
        #expect(reply.resources.allSatisfy { $0.refusal?.code == "authorization_denied_by_session_invalidated" })
        fixture.sessions.getUpstreamToken.fail(with: Fault(.networkConnectionTimeout, "x"))
        #expect(await fault { try await fixture.authorize() }?.code == .networkConnectionTimeout)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("mvpd §4.3: a decision point has no more calls under way than its record allows; a further one fails at once and opens no breaker")
    func limitsCallsInFlight() async throws {
        let fixture = try AuthorizationFixture {
            $0.mvpds[0].authorization?.maxCallsInFlight = 2
            $0.mvpds[0].authorization?.url = "https://pdp.cable.example/slow"
            $0.mvpds[1].authorization = AuthorizationEndpoint(protocol: .xacmlJson, url: "https://pdp.tel.example/")
            $0.mvpds[1].authzTtlSeconds = 60
        }
        fixture.transport.hold()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for resource in ["A", "B"] { group.addTask { _ = await fault { try await fixture.authorize(resource) } } }
            while fixture.transport.requestCount < 2 { await Task.yield() }
            for _ in 0..<30 { #expect(await fault { try await fixture.authorize("C") }?.code == .networkReceivedError) }
            #expect(fixture.transport.requestCount == 2)
            fixture.transport.release()
            try await group.waitForAll()
        }
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        _ = try await fixture.authorize("C")
        #expect(fixture.transport.requestCount == 3)
    }

    @Test("mvpd §4.4: where one unknown id silences the whole answer, each is asked for by itself, if the record says so")
    func fallsBackToSingleQuestions() async throws {
        for hasFallback in [false, true] {
            let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.preflightFallback = hasFallback }
            fixture.transport.answer { body in
                guard let sent = try? SentRequest(json: body).resource.flatMap(\.attributes).map(\.value), sent.count == 1, sent[0] != "UNKNOWN"
                else {
                    return #"{"Response":[]}"#
                }
                return Xacml.response(Xacml.result("Permit", resource: sent[0]))
            }
            let reply = try await fixture.preauthorize("A,UNKNOWN,B")
            #expect(reply.resources.map(\.authorized) == (hasFallback ? [true, false, true] : [false, false, false]))
            #expect(reply.isPartial)
            #expect(fixture.transport.requestCount == (hasFallback ? 4 : 1))
            #expect(fixture.transport.mostAtOnce <= 5)
        }
    }

    @Test("mvpd #106: an answer that lacks one id only is no reason to ask again")
    func keepsAPartialAnswer() async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.preflightFallback = true }
        fixture.transport.answer(Xacml.response(Xacml.result("Permit", resource: "A")))
        let reply = try await fixture.preauthorize("A,B")
        #expect(reply.resources.map(\.authorized) == [true, false] && reply.isPartial)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("mvpd #108: AuthZ-All permits, AuthZ-None denies, neither asks, in the SOAP form too")
    func rulesComeFirst() async throws {
        let fixture = try SoapDecisionTests.fixture()
        fixture.degrade(.authzAll)
        _ = try await fixture.authorize()
        fixture.degrade(.authzNone, resources: ["CHAN7-SD"], id: "rule-2")
        #expect(await fault { try await fixture.authorize("CHAN7-SD") }?.code == .authorizationDeniedByDegradationRule)
        #expect(fixture.transport.requestCount == 0)
    }
}
