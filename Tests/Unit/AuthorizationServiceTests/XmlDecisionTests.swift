import Clocks
import Contracts
import Doubles
import Faults
import Testing

/// Bare XACML 2.0 (mvpd §4.1, §4.2) through the whole service.
@Suite struct XmlDecisionTests {
    private func fixture(_ configure: (inout AuthorizationEndpoint) -> Void = { _ in }) throws -> AuthorizationFixture {
        try AuthorizationFixture { configuration in
            var endpoint = configuration.mvpds[0].authorization ?? AuthorizationEndpoint()
            endpoint.protocol = .xacmlXml
            configure(&endpoint)
            configuration.mvpds[0].authorization = endpoint
        }
    }

    private func fault(for results: String...) async throws -> Fault? {
        let fixture = try fixture()
        fixture.transport.answer("<Response xmlns=\"urn:oasis:names:tc:xacml:2.0:context:schema:os\">\(results.joined())</Response>")
        return await AuthorizationServiceTests.fault { try await fixture.authorize() }
    }

    @Test("mvpd §4.2: a permit permits, with or without the resource's id around it")
    func permits() async throws {
        #expect(try await fault(for: XacmlXml.result("Permit", resource: "CHAN7-HD")) == nil)
        #expect(try await fault(for: XacmlXml.result(" Permit\n")) == nil)
    }

    @Test("mvpd #95, #118: obligations and the status message decide code and details of a denial")
    func denies() async throws {
        let restrict = XacmlXml.obligation(Xacml.restrict, on: "Deny", (Xacml.message, "Above your limit"))
        let parental = try await fault(for: XacmlXml.result("Deny", resource: "CHAN7-HD", obligations: restrict))
        #expect(parental?.code == .authorizationDeniedByParentalControls && parental?.details == "Above your limit")
        let upgrade = XacmlXml.obligation(Xacml.upgrade, on: "Deny", ("urn:x:text", "Call us &amp; ask"))
        let offered = try await fault(for: XacmlXml.result("Deny", resource: "CHAN7-HD", message: "no", obligations: upgrade))
        #expect(offered?.code == .authorizationDeniedByMvpd && offered?.details == "Call us & ask")
        #expect(try await fault(for: XacmlXml.result("Deny", message: "Not in your area"))?.details == "Not in your area")
    }

    @Test("mvpd #96: whatever is not Permit denies", arguments: ["NotApplicable", "Indeterminate", "Perhaps", "permit", ""])
    func deniesUnknownDecisions(decision: String) async throws {
        #expect(try await fault(for: XacmlXml.result(decision))?.code == .authorizationDeniedByMvpd)
    }

    @Test("mvpd #97, #116: obligations on a permit: unknown ones deny, one for a denial is ignored, limits alone are understood")
    func readsObligationsOfAPermit() async throws {
        let ratings = "urn:cablelabs:ocla:1.0:attribute:content:ratings:"
        func outcome(_ obligation: String) async throws -> Fault? {
            try await fault(for: XacmlXml.result("Permit", resource: "CHAN7-HD", obligations: obligation))
        }
        #expect(try await outcome(XacmlXml.obligation("urn:x:unknown", on: "Permit"))?.code == .authorizationDeniedByMvpd)
        #expect(try await outcome(XacmlXml.obligation("urn:x:unknown", on: "Deny")) == nil)
        #expect(
            try await outcome(XacmlXml.obligation("urn:x:unknown", on: "Permit", (ratings + "maxMPAA", "R"), (ratings + "maxVCHIP", "TV-14"))) == nil)
        #expect(
            try await outcome(XacmlXml.obligation("urn:x:unknown", on: "Permit", (ratings + "maxMPAA", "R"), ("urn:x:a", "1")))?.code
                == .authorizationDeniedByMvpd)
        #expect(try await outcome(XacmlXml.obligation(Xacml.log, on: "Permit")) == nil)
    }

    @Test("mvpd #98, #99, #115: results for other resources, twice, without a resource")
    func matchesResources() async throws {
        let other = XacmlXml.result("Permit", resource: "CHAN7-SD"), own = XacmlXml.result("Permit", resource: "CHAN7-HD")
        #expect(try await fault(for: other)?.code == .authorizationDeniedByMvpd)
        #expect(try await fault(for: XacmlXml.result("Permit", resource: "CHAN7-HD "))?.code == .authorizationDeniedByMvpd)
        #expect(try await fault(for: own, own)?.code == .networkReceivedError)
        #expect(try await fault(for: own, XacmlXml.result("Permit"))?.code == .networkReceivedError)
        #expect(try await fault(for: other, own) == nil)
        let fixture = try fixture()
        fixture.transport.answer(XacmlXml.response(XacmlXml.result("Permit")))
        #expect(try await fixture.preauthorize("A,B").resources.allSatisfy { $0.refusal?.code == "network_received_error" })
    }

    @Test(
        "mvpd §4.2: what is no such response, or holds what is not known, is an error",
        arguments: [
            "", "<Response/>", "{}", "<!DOCTYPE Response><Response xmlns=\"urn:oasis:names:tc:xacml:2.0:context:schema:os\"/>", XacmlXml.response(),
            XacmlXml.response("<Result/>"), XacmlXml.response("<Result><Decision>Permit<!-- --></Decision></Result>"),
            XacmlXml.response("<Result><Decision>Permit</Decision><Decision>Deny</Decision></Result>"),
            XacmlXml.response("<Result><Decision>Permit</Decision><Obligations><Obligation ObligationId=\"urn:x\"/></Obligations></Result>"),
            XacmlXml.response("<Result><Decision><x>Permit</x></Decision></Result>"),
            XacmlXml.response("<Result xmlns=\"urn:x\"><Decision>Permit</Decision></Result>"),
            "<Response xmlns=\"urn:oasis:names:tc:xacml:3.0:core:schema:wd-17\"><Result><Decision>Permit</Decision></Result></Response>",
        ])
    func refusesOtherAnswers(answer: String) async throws {
        let fixture = try fixture()
        fixture.transport.answer(answer)
        #expect(await AuthorizationServiceTests.fault { try await fixture.authorize() }?.code == .networkReceivedError)
        #expect(fixture.store.count == 0)
    }

    @Test("mvpd #104: a hostile resource arrives as one value", arguments: ["\"]]><x/>", "a</x:AttributeValue>", "&amp;&lt;", "ü'&%00\"", "a\tb"])
    func sendsHostileResourcesAsOneValue(resource: String) async throws {
        let fixture = try fixture()
        fixture.transport.answer(XacmlXml.response(XacmlXml.result("Permit")))
        _ = try await fixture.authorize(resource)
        #expect(try SentXml(try #require(fixture.transport.bodies.first)).values("Resource") == [resource])
    }

    @Test("mvpd §4.1: every id and data type can be the MVPD's own")
    func sendsConfiguredNames() async throws {
        let fixture = try fixture { endpoint in
            endpoint.names = DecisionNames(
                subjectID: "urn:x:who", resourceID: "urn:x:what", tvNetwork: "urn:x:network", contentNamespace: "urn:x:space", title: "urn:x:title",
                rating: "urn:x:rating", actionID: "urn:x:do")
            endpoint.ipAttributeID = "urn:x:ip"
            endpoint.ipDataType = "urn:oasis:names:tc:xacml:2.0:data-type:ipAddress"
            endpoint.resourceDataType = "http://www.w3.org/2001/XMLSchema#anyURI"
            endpoint.userAgentAttributeID = "urn:x:agent"
            endpoint.userAgentDataType = "urn:x:agent-type"
        }
        let document = """
            <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>CHAN7</title><item><title>Show</title><guid>g-1</guid>\
            <media:rating scheme="urn:v-chip">tv-pg</media:rating></item></channel></rss>
            """
        fixture.transport.answer(XacmlXml.response(XacmlXml.result("Permit", resource: "g-1")))
        _ = try await fixture.authorize(document)
        let sent = try SentXml(try #require(fixture.transport.bodies.first)).attributes
        #expect(
            sent.map(\.identifier) == [
                "urn:x:who", "urn:x:what", "urn:x:network", "urn:x:space", "urn:x:title", "urn:x:rating:urn:v-chip", "urn:x:do", "urn:x:ip",
                "urn:x:agent",
            ])
        #expect(sent[1].type.hasSuffix("#anyURI") && sent[7].type.hasSuffix(":ipAddress") && sent[8].type == "urn:x:agent-type")
    }

    @Test(
        "mvpd §4.1: the scheme follows the rating's id unless it ends in one",
        arguments: [("", "rating:urn:v-chip"), ("urn:x:rating", "urn:x:rating:urn:v-chip"), ("urn:x:rating:vchip", "urn:x:rating:vchip")])
    func appendsTheScheme(configured: String, sent: String) async throws {
        let fixture = try fixture { $0.names = DecisionNames(rating: configured) }
        fixture.transport.answer(XacmlXml.response(XacmlXml.result("Permit")))
        let rating = "<media:rating xmlns:media=\"http://search.yahoo.com/mrss/\" scheme=\"urn:v-chip\">tv-pg</media:rating>"
        _ = try await fixture.authorize("<rss version=\"2.0\"><channel><title>CHAN7</title>\(rating)</channel></rss>")
        let ids = try SentXml(try #require(fixture.transport.bodies.first)).attributes.map(\.identifier)
        #expect(ids.contains { $0.hasSuffix(sent) })
    }

    @Test("mvpd §4.1: the address can be left out; the subject can go as a token")
    func leavesOutAndEncodes() async throws {
        let fixture = try fixture {
            $0.omitIP = true
            $0.subjectAsToken = true
        }
        fixture.transport.answer(XacmlXml.response(XacmlXml.result("Permit")))
        _ = try await fixture.authorize()
        let sent = try SentXml(try #require(fixture.transport.bodies.first))
        #expect(sent.values("Environment").isEmpty)
        let subject = try #require(sent.attributes.first)
        #expect(subject.identifier == "urn:oasis:names:tc:xacml:1.0:subject:subject-token" && subject.type.hasSuffix("#base64Binary"))
        #expect(subject.value == "c3Vic2NyaWJlci05")
    }

    @Test("mvpd §4.1: an MVPD that wants Media RSS gets it; a plain text is wrapped")
    func wrapsPlainTexts() async throws {
        let fixture = try fixture { $0.resourceForm = .mediaRss }
        let wrapped = "<rss version=\"2.0\"><channel><title>A&amp;B &lt;C&gt;</title></channel></rss>"
        fixture.transport.answer(XacmlXml.response(XacmlXml.result("Permit")))
        _ = try await fixture.authorize("A&B <C>")
        #expect(try SentXml(try #require(fixture.transport.bodies.last)).values("Resource") == [wrapped])
        let document = "<rss version=\"2.0\"><channel><title>CHAN7</title></channel></rss>"
        _ = try await fixture.authorize(document)
        #expect(try SentXml(try #require(fixture.transport.bodies.last)).values("Resource") == [document])
    }

    @Test("mvpd §4.2: obligations and assignments under the MVPD's own ids; its table of reasons comes first")
    func readsConfiguredNames() async throws {
        let fixture = try fixture { endpoint in
            endpoint.names = DecisionNames(
                reauthorizeObligation: "urn:x:again", restrictObligation: "urn:x:restrict", message: "urn:x:text", reasonCode: "urn:x:reason")
            endpoint.denialReasons = [
                DenialReason(reason: "E-17", code: "identity_not_recognized_by_mvpd"),
                DenialReason(reason: "hba-policies", code: "authorization_denied_by_session_invalidated"),
            ]
        }
        func deny(_ obligation: String) async -> Fault? {
            fixture.transport.answer(XacmlXml.response(XacmlXml.result("Deny", obligations: obligation)))
            let resource = "resource-\(fixture.transport.requestCount)"
            return await AuthorizationServiceTests.fault { try await fixture.authorize(resource) }
        }
        let restricted = await deny(XacmlXml.obligation("urn:x:restrict", on: "Deny", ("urn:x:text", "Sorry")))
        #expect(restricted?.code == .authorizationDeniedByParentalControls && restricted?.details == "Sorry")
        #expect(await deny(XacmlXml.obligation("urn:x:any", on: "Deny", ("urn:x:reason", "e 17")))?.code == .identityNotRecognizedByMvpd)
        #expect(
            await deny(XacmlXml.obligation("urn:x:any", on: "Deny", ("urn:x:reason", "HBA_policies")))?.code
                == .authorizationDeniedBySessionInvalidated)
        fixture.transport.answer(
            XacmlXml.response(XacmlXml.result("Permit", obligations: XacmlXml.obligation("urn:x:again", on: "Permit", ("urn:x:again", "60")))))
        #expect(try await fixture.authorize().expiresAtMilliseconds == UInt64((fixture.clock.now() + .seconds(60)).milliseconds))
    }
}
