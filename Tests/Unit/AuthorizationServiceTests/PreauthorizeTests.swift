import ContractRuntime
import Contracts
import Doubles
import Faults
import Testing

@Suite struct PreauthorizeTests {
    private static let ids = Array("ABCDEFGHIJ").map(String.init)

    private func list(_ count: Int) -> String { Self.ids.prefix(count).joined(separator: ",") }

    /// Answers of one call, in the opposite order.
    private func answer(_ decisions: (String, String)...) -> String {
        Xacml.response(of: decisions.reversed().map { Xacml.result($0.1, resource: $0.0) })
    }

    @Test("rest-v1 #73: items in the order of the request, answers matched by id; one call")
    func keepsTheOrder() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(answer(("A", "Permit"), ("B", "Deny"), ("C", "Permit")))
        let reply = try await fixture.preauthorize("A,B,C")
        #expect(reply.resources.map(\.id) == ["A", "B", "C"])
        #expect(reply.resources.map(\.authorized) == [true, false, true])
        #expect(reply.resources.map { $0.refusal?.code } == [nil, "preauthorization_denied_by_mvpd", nil])
        #expect(!reply.isPartial)
        #expect(fixture.transport.requestCount == 1)
        let sent = try SentRequest(json: try #require(fixture.transport.bodies.first)).resource.flatMap(\.attributes)
        #expect(sent.map(\.value) == ["A", "B", "C"])
        #expect(sent.allSatisfy { $0.isIncluded == true })
    }

    @Test("rest-v1 #74, mvpd #105: six at the limit of five are refused without a question; a higher limit lets them through")
    func limitsTheNumber() async throws {
        let fixture = try AuthorizationFixture()
        #expect(await fault { try await fixture.preauthorize(list(6)) }?.code == .tooManyResources)
        #expect(fixture.transport.requestCount == 0)
        #expect(try await fixture.preauthorize(list(5)).resources.count == 5)
        fixture.catalogue.change { $0.mvpds[0].authorization?.preflightMaxResources = 7 }
        #expect(await fault { try await fixture.preauthorize(list(8)) }?.code == .tooManyResources)
        fixture.catalogue.change { $0.integrations[0].preflightMaxResources = 10 }
        #expect(try await fixture.preauthorize(list(10)).resources.count == 10)
    }

    @Test(
        "mvpd #119: six ids, two of them equal, are five, whatever the method",
        arguments: [PreflightStrategy.multiChannel, .lineup, .forkJoin])
    func countsDuplicatesOnce(strategy: PreflightStrategy) async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.preflightStrategy = strategy }
        #expect(try await fixture.preauthorize("A,B,C,D,E,A").resources.map(\.id) == ["A", "B", "C", "D", "E"])
        #expect(await fault { try await fixture.preauthorize("A,B,C,D,E,F") }?.code == .tooManyResources)
    }

    @Test("rest-v1 #75: no parameter, an empty one, a malformed one")
    func needsResources() async throws {
        let fixture = try AuthorizationFixture()
        for (list, code) in [(nil, Fault.Code.missingResource), ("", .missingResource), ("<rss", .malformedAuthzRequest)] {
            #expect(await fault { try await fixture.preauthorize(list) }?.code == code)
            #expect(await fault { try await fixture.preauthorize(list, device: "dev-2") }?.code == code)
        }
    }

    @Test("rest-v1 #76: a session is needed; so is its integration")
    func needsASession() async throws {
        let fixture = try AuthorizationFixture()
        #expect(await fault { try await fixture.preauthorize("A", device: "dev-2") }?.code == .authenticationSessionMissing)
        fixture.table.expire(device: "dev-1", requestor: "CHAN7")
        #expect(await fault { try await fixture.preauthorize("A") }?.code == .authenticationSessionExpired)
        fixture.signIn()
        fixture.catalogue.change { $0.integrations[0].enabled = false }
        #expect(await fault { try await fixture.preauthorize("A") }?.code == .unknownIntegration)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("rest-v1 #77, mvpd #106: an id without an answer is false, worth a retry, and the answer is partial")
    func marksUnanswered() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(answer(("A", "Permit"), ("C", "Deny")))
        let reply = try await fixture.preauthorize("A,B,C")
        #expect(reply.resources.map(\.authorized) == [true, false, false])
        #expect(reply.resources[1].refusal?.code == "network_received_error")
        #expect(reply.isPartial)
        fixture.transport.answer(#"{"Response":[]}"#)
        let silence = try await fixture.preauthorize("A,B")
        #expect(silence.isPartial && silence.resources.allSatisfy { !$0.authorized && $0.refusal?.code == "network_received_error" })
    }

    @Test("rest-v1 #77: an MVPD that cannot be asked leaves everything unanswered; nothing fails")
    func survivesAnMvpdThatIsAway() async throws {
        for strategy in [PreflightStrategy.multiChannel, .forkJoin] {
            let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.preflightStrategy = strategy }
            fixture.transport.fail(.responseTimeout)
            let reply = try await fixture.preauthorize("A,B")
            #expect(reply.isPartial && reply.resources.allSatisfy { !$0.authorized && $0.refusal?.code == "network_connection_timeout" })
        }
    }

    @Test("mvpd §4.2: results that cannot be told apart are no answers")
    func refusesAmbiguousAnswers() async throws {
        let fixture = try AuthorizationFixture()
        for text in [
            answer(("A", "Permit"), ("A", "Permit"), ("B", "Permit")), Xacml.response(Xacml.result("Permit"), Xacml.result("Permit", resource: "B")),
            Xacml.response(Xacml.result("Permit")),
        ] {
            fixture.transport.answer(text)
            #expect(try await fixture.preauthorize("A,B").resources.map(\.authorized) == [false, false])
        }
        #expect(try await fixture.preauthorize("A").resources.map(\.authorized) == [true], "one question, one result without a name")
        fixture.transport.answer(answer(("A", "Permit"), ("X", "Permit"), ("B", "Permit")))
        #expect(try await fixture.preauthorize("A,B").resources.map(\.authorized) == [true, true], "a further id does no harm")
    }

    @Test("rest-v1 #78: a channel line-up decides without a question, whatever the case of letters")
    func comparesALineup() async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.preflightStrategy = .lineup }
        fixture.signIn(attributes: [UserAttribute(key: "channelID", values: ["chan7-hd", "CHAN7-News"])])
        let rss = "<rss version=\"2.0\"><channel><title>Chan7-HD</title></channel></rss>"
        let reply = try await fixture.preauthorize("CHAN7-NEWS,CHAN7-SPORT,\(rss)")
        #expect(reply.resources.map(\.authorized) == [true, false, true])
        #expect(reply.resources[1].refusal?.code == "preauthorization_denied_by_mvpd")
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("mvpd §4.4: fork and join asks for each by itself")
    func forksAndJoins() async throws {
        let fixture = try AuthorizationFixture {
            $0.mvpds[0].authorization?.preflightStrategy = .forkJoin
            $0.mvpds[0].authorization?.preflightMaxResources = 9
        }
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        #expect(try await fixture.preauthorize(list(9)).resources.allSatisfy(\.authorized))
        #expect(fixture.transport.requestCount == 9)
        #expect(fixture.transport.mostAtOnce <= 5)
    }

    @Test("mvpd §4.4: questions of one id that differ otherwise are not answered by one result")
    func separatesQuestionsOfOneID() async throws {
        let fixture = try AuthorizationFixture()
        func film(_ rating: String) -> String {
            """
            <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>CHAN7</title><item><guid>g</guid>\
            <media:rating scheme="urn:v-chip">\(rating)</media:rating></item></channel></rss>
            """
        }
        fixture.transport.answer(answer(("g", "Permit"), ("CHAN7", "Permit")))
        _ = try await fixture.preauthorize([film("TV-G"), film("TV-MA"), "CHAN7", film("TV-G")].joined(separator: ","))
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("mvpd §4.4: an MVPD that knows only channels is asked about a channel once, and its answer counts for each programme")
    func asksOnceAboutAChannel() async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.channelOnly = true }
        fixture.transport.answer(answer(("CHAN7", "Permit")))
        let programmes = ["g1", "g2"].map { "<rss version=\"2.0\"><channel><title>CHAN7</title><item><guid>\($0)</guid></item></channel></rss>" }
        #expect(try await fixture.preauthorize(programmes.joined(separator: ",")).resources.map(\.authorized) == [true, true])
        let sent = try SentRequest(json: try #require(fixture.transport.bodies.first)).resource.flatMap(\.attributes)
        #expect(sent.map(\.value) == ["CHAN7"])
    }

    @Test("rest-v1 §3.16: a denial keeps the MVPD's text and its particular reason")
    func carriesReasons() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(
            Xacml.response(
                Xacml.result("Deny", resource: "A", message: "Not in your package"),
                Xacml.result("Deny", resource: "B", obligations: Xacml.obligation(Xacml.restrict))))
        let refusals = try await fixture.preauthorize("A,B").resources.map(\.refusal)
        #expect(refusals[0] == ResourceRefusal(code: "preauthorization_denied_by_mvpd", details: "Not in your package"))
        #expect(refusals[1]?.code == "authorization_denied_by_parental_controls")
    }

    @Test("rest-v1 #79: by code, for the code's device at its own address; a dead code is a missing session")
    func asksByCode() async throws {
        let fixture = try AuthorizationFixture()
        var subject = fixture.subject()
        subject.deviceID = "dev-9"
        subject.device = DeviceInformation(userAgent: "TV/1", connectionIP: "203.0.113.77")
        fixture.sessions.findSessionByCode.answer(with: subject)
        fixture.transport.answer(answer(("A", "Permit"), ("B", "Deny")))
        let request = PreauthorizeByCodeRequest(
            requestor: "CHAN7", code: "QK7M2XD", resources: ResourceList(text: "A,B"), clientAddress: "198.51.100.1")
        let reply = try await fixture.service.preauthorizeByCode(request, context: CallContext())
        #expect(reply.resources.map(\.authorized) == [true, false])
        #expect(fixture.sessions.findSessionByCode.requests.map(\.code) == ["QK7M2XD"])
        let body = try #require(fixture.transport.bodies.first)
        #expect(try SentRequest(json: body).environment.flatMap(\.attributes).map(\.value) == ["203.0.113.77"])
        for code in [Fault.Code.invalidRegistrationCode, .registrationCodeSpent, .authenticationSessionMissing] {
            fixture.sessions.findSessionByCode.fail(with: Fault(code, "x"))
            #expect(
                await fault { try await fixture.service.preauthorizeByCode(request, context: CallContext()) }?.code == code)
        }
        fixture.sessions.findSessionByCode.fail(with: Fault(.unavailable, "x"))
        #expect(await fault { try await fixture.service.preauthorizeByCode(request, context: CallContext()) }?.code == .unavailable)
    }

    @Test("rest-v1 #80: a preauthorization leaves no authz token")
    func leavesNoToken() async throws {
        let fixture = try AuthorizationFixture()
        #expect(try await fixture.preauthorize("CHAN7-HD").resources.map(\.authorized) == [true])
        #expect(fixture.store.count == 0)
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
    }

    @Test("rest-v1 §6.2: a TempPass permits everything and knows no limit; asking counts no play")
    func tempPassPermitsAll() async throws {
        let fixture = try AuthorizationFixture()
        fixture.signIn(kind: .tempPass)
        let reply = try await fixture.preauthorize(list(10))
        #expect(reply.resources.count == 10 && reply.resources.allSatisfy(\.authorized))
        #expect(fixture.transport.requestCount == 0 && fixture.sessions.spendTempPass.requests.isEmpty)
    }

    @Test("rest-v1 §2.8: authentication that is away is no missing session")
    func reportsABrokenDependency() async throws {
        let fixture = try AuthorizationFixture()
        fixture.table.fail(with: Fault(.unavailable, "x"))
        #expect(await fault { try await fixture.preauthorize("A") }?.code == .unavailable)
    }
}
