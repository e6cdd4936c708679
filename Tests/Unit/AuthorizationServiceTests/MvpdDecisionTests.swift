import Contracts
import Doubles
import Faults
import Testing

/// The meaning of an MVPD's answers (mvpd §4.2), through the whole service.
@Suite struct MvpdDecisionTests {
    private func fault(for answer: String, status: Int = 200) async throws -> Fault? {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(answer, status: status)
        let fault = await AuthorizationServiceTests.fault { try await fixture.authorize() }
        #expect((fault == nil) == (fixture.store.count == 1))
        return fault
    }

    @Test("mvpd #95: restrict-pc, upgrade and message decide code and details")
    func readsObligationsOfADenial() async throws {
        let parental = try await fault(for: Xacml.deny(Xacml.obligation(Xacml.restrict, (Xacml.message, #""Above your limit""#))))
        #expect(parental?.code == .authorizationDeniedByParentalControls)
        #expect(parental?.details == "Above your limit")
        let upgrade = try await fault(for: Xacml.deny(Xacml.obligation(Xacml.upgrade, ("urn:x:text", #""Call us""#))))
        #expect(upgrade?.code == .authorizationDeniedByMvpd)
        #expect(upgrade?.details == "Call us")
        let plain = try await fault(for: Xacml.deny())
        #expect(plain?.code == .authorizationDeniedByMvpd)
        #expect(try #require(plain).details == nil)
    }

    @Test(
        "mvpd §4.2: a reason code decides the code of a denial; an unknown one says nothing",
        arguments: [
            ("identity-not-recognized", Fault.Code.identityNotRecognizedByMvpd), ("HBA_Policies", .authorizationDeniedByHbaPolicies),
            ("session invalidated", .authorizationDeniedBySessionInvalidated), ("parental-controls", .authorizationDeniedByParentalControls),
            ("authorization_denied_by_hba_policies", .authorizationDeniedByHbaPolicies), ("17", .authorizationDeniedByMvpd),
        ])
    func readsReasonCodes(reason: String, code: Fault.Code) async throws {
        let obligation = Xacml.obligation("urn:x:any", (Xacml.reasonCode, #""\#(reason)""#), (Xacml.message, #""Sorry""#))
        let denial = try await fault(for: Xacml.deny(obligation))
        #expect(denial?.code == code)
        #expect(denial?.details == "Sorry")
    }

    @Test("mvpd #118: a denial with a status message only gives that text")
    func readsTheStatusMessage() async throws {
        let denial = try await fault(for: Xacml.deny(message: "Not in your area"))
        #expect(denial?.details == "Not in your area")
    }

    @Test("mvpd §4.2: a single object stands for a list of one, wherever the JSON profile has lists")
    func readsSingleObjects() async throws {
        let attribute = #"{"AttributeId":"\#(Xacml.resourceID)","Value":"CHAN7-HD"}"#
        let message = #"{"AttributeId":"\#(Xacml.message)","Value":"Call us"}"#
        let obligation = #"{"Id":"\#(Xacml.upgrade)","AttributeAssignment":\#(message)}"#
        let result = #"{"Decision":"Deny","Obligations":\#(obligation),"Category":{"Attribute":\#(attribute)}}"#
        let denial = try await fault(for: #"{"Response":\#(result)}"#)
        #expect(denial?.code == .authorizationDeniedByMvpd && denial?.details == "Call us")
        #expect(try await fault(for: #"{"Response":{"Decision":"Permit","Category":{"Attribute":\#(attribute)}}}"#) == nil)
    }

    @Test("RFC 9110 §15.3.2: 201 with an answer counts as 200", arguments: [200, 201])
    func takesCreated(status: Int) async throws {
        #expect(try await fault(for: Xacml.permit(), status: status) == nil)
    }

    @Test(
        "an answer that cannot be read is logged with the member's path, and with nothing of its value",
        arguments: [
            (#"{"Response":[{"decision":"Permit"}]}"#, "Response[0].Decision is missing"),
            (#"{"Response":{"Decision":7}}"#, "Response.Decision is of another type"),
            (#"{"Response":[{"Decision":null}]}"#, "Response[0].Decision"), ("{}", "Response is missing"),
            ("<html>secret</html>", "the text is no JSON"),
            (#"{"Response":[{"Decision":"Deny","Obligations":[{"Id":["secret"]}]}]}"#, "Obligations[0].Id is of another type"),
        ])
    func namesTheMember(answer: String, path: String) async throws {
        let fault = try #require(try await fault(for: answer))
        let cause = "\(fault.cause.map { "\($0)" } ?? "")"
        #expect(fault.code == .networkReceivedError && cause.contains(path) && !cause.contains("secret"), "\(cause)")
    }

    @Test("mvpd #96: whatever is not Permit denies", arguments: ["NotApplicable", "Indeterminate", "Perhaps", "permit", "Indeterminate{P}", ""])
    func deniesUnknownDecisions(decision: String) async throws {
        let answer = Xacml.response(Xacml.result(decision, resource: "CHAN7-HD"))
        #expect(try await fault(for: answer)?.code == .authorizationDeniedByMvpd)
    }

    @Test("mvpd #97: an unknown obligation turns a permit into a denial")
    func deniesUnknownObligations() async throws {
        #expect(try await fault(for: Xacml.permit(Xacml.obligation("urn:x:unknown")))?.code == .authorizationDeniedByMvpd)
        #expect(try await fault(for: Xacml.permit(Xacml.obligation("urn:x:unknown", ("urn:x:a", "1"))))?.code == .authorizationDeniedByMvpd)
        #expect(
            try await fault(for: Xacml.permit(Xacml.obligation(Xacml.reauthorize, (Xacml.reauthorize, #""soon""#))))?.code
                == .authorizationDeniedByMvpd)
        #expect(try await fault(for: Xacml.permit(Xacml.obligation(Xacml.restrict)))?.code == .authorizationDeniedByParentalControls)
    }

    @Test("mvpd §4.2: obligations that are understood leave a permit a permit; one for the other effect is ignored")
    func acceptsUnderstoodObligations() async throws {
        #expect(try await fault(for: Xacml.permit(Xacml.obligation(Xacml.log))) == nil)
        let ratings = Xacml.obligation(
            "urn:x:ratings", ("urn:cablelabs:ocla:1.0:attribute:content:ratings:maxMPAA", #""PG""#),
            ("urn:cablelabs:ocla:1.0:attribute:content:ratings:maxVCHIP", #""TV-PG""#))
        #expect(try await fault(for: Xacml.permit(ratings)) == nil)
        #expect(try await fault(for: Xacml.permit(Xacml.obligation("urn:x:unknown", fulfillOn: "Deny"))) == nil)
    }

    @Test("mvpd #98: a result for another resource only denies")
    func deniesAnswersAboutOtherResources() async throws {
        let answer = Xacml.response(Xacml.result("Permit", resource: "CHAN7-SD"))
        #expect(try await fault(for: answer)?.code == .authorizationDeniedByMvpd)
        #expect(try await fault(for: Xacml.response(Xacml.result("Permit", resource: "chan7-hd")))?.code == .authorizationDeniedByMvpd)
    }

    @Test("mvpd #99: two results for one resource are an error")
    func refusesDuplicateResults() async throws {
        let result = Xacml.result("Permit", resource: "CHAN7-HD")
        #expect(try await fault(for: Xacml.response(result, result))?.code == .networkReceivedError)
    }

    @Test("mvpd #115: one result without a resource answers the one question; two are an error")
    func matchesASingleUnnamedResult() async throws {
        #expect(try await fault(for: Xacml.response(Xacml.result("Permit"))) == nil)
        #expect(try await fault(for: Xacml.response(Xacml.result("Deny")))?.code == .authorizationDeniedByMvpd)
        #expect(try await fault(for: Xacml.response(Xacml.result("Permit"), Xacml.result("Permit")))?.code == .networkReceivedError)
    }

    @Test(
        "mvpd §4.3: an answer that cannot be read is an error of the network",
        arguments: ["", "{}", "[]", #"{"Response":[]}"#, #"{"Response":{}}"#, "<x/>"])
    func refusesOtherTexts(answer: String) async throws {
        #expect(try await fault(for: answer)?.code == .networkReceivedError)
    }

    @Test("mvpd §4.3: any status but 200 and 201 is an error of the network", arguments: [202, 204, 302, 401, 403, 500, 503])
    func refusesOtherStatus(status: Int) async throws {
        #expect(try await fault(for: Xacml.permit(), status: status)?.code == .networkReceivedError)
    }

    @Test("mvpd #109: details are one clean line of at most 512 bytes")
    func cleansDetails() async throws {
        let text = #"  Line one\r\nline\u0007 two\u202e\u2028three  "#
        #expect(try await fault(for: Xacml.deny(message: text))?.details == "Line one line two three")
        let long = try await fault(for: Xacml.deny(message: String(repeating: "é", count: 400)))
        #expect(long?.details == String(repeating: "é", count: 256))
        #expect(try #require(try await fault(for: Xacml.deny(message: #"\r\n\t"#))).details == nil)
    }

    @Test("mvpd #104: a hostile resource arrives as one value")
    func sendsHostileResourcesAsOneValue() async throws {
        for resource in [#""]]><x/>"#, #"\","Value":"other"#, "CHAN7-HD\"}]}", "ü'&%00"] {
            let fixture = try AuthorizationFixture()
            _ = await AuthorizationServiceTests.fault { try await fixture.authorize(resource) }
            let body = try #require(fixture.transport.bodies.first)
            #expect(try SentRequest(json: body).resource.map { $0.attributes.map(\.value) } == [[resource]])
        }
    }

    @Test("mvpd §4.1: subject, action, resource and address go out under their names; nothing else")
    func sendsWhatTheMvpdNeeds() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        let body = try #require(fixture.transport.bodies.first)
        #expect(
            body
                == #"{"Request":{"AccessSubject":[{"Attribute":[{"AttributeId":"urn:oasis:names:tc:xacml:1.0:subject:subject-id","Value":"subscriber-9"}]}],"#
                + #""Action":[{"Attribute":[{"AttributeId":"urn:oasis:names:tc:xacml:1.0:action:action-id","Value":"VIEW"}]}],"#
                + #""Environment":[{"Attribute":[{"AttributeId":"urn:oasis:names:tc:xacml:1.0:subject:authn-locality:ip-address","Value":"203.0.113.9"}]}],"#
                + #""Resource":[{"Attribute":[{"AttributeId":"urn:oasis:names:tc:xacml:1.0:resource:resource-id","IncludeInResult":true,"Value":"CHAN7-HD"}]}]}}"#
        )
    }

    @Test("mvpd §4.1: device id and user agent go out only under configured ids")
    func sendsConfiguredAttributes() async throws {
        let fixture = try AuthorizationFixture {
            $0.mvpds[0].authorization?.deviceAttributeID = "urn:x:device"
            $0.mvpds[0].authorization?.userAgentAttributeID = "urn:x:agent"
            $0.mvpds[0].authorization?.ipAttributeID = "urn:x:ip"
        }
        _ = try await fixture.authorize()
        let body = try #require(fixture.transport.bodies.first)
        let sent = try SentRequest(json: body).environment.flatMap(\.attributes)
        #expect(sent.map(\.identifier) == ["urn:x:ip", "urn:x:agent", "urn:x:device"])
        #expect(sent.map(\.value) == ["203.0.113.9", "Player/1", "dev-1"])
    }
}
