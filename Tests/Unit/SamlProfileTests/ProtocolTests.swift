import Clocks
import Foundation
import SamlProfile
import SamlSigner
import Testing

/// Issuer, time, audience, recipient and the request that is answered.
struct ProtocolTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    private func instant(_ seconds: Int64) -> String {
        ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: Double(World.now.seconds + seconds)))
    }

    private func confirmation(_ change: (inout AssertionTemplate.Confirmation) -> Void) throws -> String {
        try world.assertion { assertion in
            var confirmation = AssertionTemplate.Confirmation()
            change(&confirmation)
            assertion.confirmations = [confirmation]
        }
    }

    @Test("mvpd #14: the audience is the issuer that was sent or the base id", arguments: ["", "/on-behalf-of/NEWSBRAND"])
    func acceptsBothAudiences(suffix: String) throws {
        #expect(
            try world.outcome(try world.assertion { $0.audiences = [["https://other.example", ResponseTemplate.serviceProvider + suffix]] }) == "OK")
    }

    @Test("mvpd #65: conditions outside their time", arguments: [(-61, "OK"), (-59, "OK"), (60, "OK"), (61, "time")] as [(Int64, String)])
    func checksNotBefore(offset: Int64, outcome: String) throws {
        #expect(try world.outcome(try world.assertion { $0.notBefore = instant(offset) }) == outcome)
    }

    @Test("mvpd #65: the end of the conditions", arguments: [(-61, "time"), (-60, "time"), (-59, "OK")] as [(Int64, String)])
    func checksNotOnOrAfter(offset: Int64, outcome: String) throws {
        #expect(try world.outcome(try world.assertion { $0.notOnOrAfter = instant(offset) }) == outcome)
    }

    @Test(
        "a period that cannot be read is no period",
        arguments: ["", "tomorrow", "2031-03-04T10:05:00", "2031-03-04T10:05:00+02:00", "2031-13-04T10:05:00Z"])
    func refusesUnreadablePeriod(text: String) throws {
        #expect(try world.outcome(try world.assertion { $0.notOnOrAfter = text }) == "time")
        #expect(try world.outcome(try confirmation { $0.notOnOrAfter = text }) == "confirm")
    }

    @Test("mvpd #66: the confirmation's end is missing or past, or it has a beginning")
    func checksConfirmationTime() throws {
        #expect(try world.outcome(try confirmation { $0.notOnOrAfter = nil }) == "confirm")
        #expect(try world.outcome(try confirmation { $0.notOnOrAfter = instant(-60) }) == "confirm")
        #expect(try world.outcome(try confirmation { $0.notOnOrAfter = instant(-59) }) == "OK")
        #expect(try world.outcome(try confirmation { $0.notBefore = instant(-100) }) == "confirm")
    }

    @Test("mvpd #67: another recipient")
    func checksRecipient() throws {
        #expect(try world.outcome(try confirmation { $0.recipient = "https://evil.example" }) == "confirm")
        #expect(try world.outcome(try confirmation { $0.recipient = nil }) == "confirm")
        #expect(try world.outcome(try confirmation { $0.inResponseTo = "_other" }) == "confirm")
        #expect(try world.outcome(try confirmation { $0.inResponseTo = nil }) == "confirm")
    }

    @Test("one good confirmation among others is enough")
    func acceptsOneOfSeveralConfirmations() throws {
        let xml = try world.assertion { assertion in
            var other = AssertionTemplate.Confirmation()
            other.recipient = "https://other.example"
            assertion.confirmations = [other, AssertionTemplate.Confirmation()]
        }
        #expect(try world.outcome(xml) == "OK")
    }

    @Test("mvpd #76: holder-of-key confirmation only")
    func refusesHolderOfKey() throws {
        #expect(try world.outcome(try confirmation { $0.method = "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key" }) == "confirm")
    }

    @Test(
        "mvpd #68: a foreign audience, none, and two restrictions of which one is foreign",
        arguments: [
            [["https://other.example"]], [], [[]], [[ResponseTemplate.serviceProvider], ["https://other.example"]],
            [[ResponseTemplate.serviceProvider + "/"]], [[ResponseTemplate.serviceProvider + "/on-behalf-of/OTHER"]],
        ])
    func checksAudience(audiences: [[String]]) throws {
        #expect(try world.outcome(try world.assertion { $0.audiences = audiences }) == "audience")
    }

    @Test("mvpd #69: another destination; none is allowed only when the response is not signed")
    func checksDestination() throws {
        #expect(try world.outcome(try world.response { $0.destination = "https://evil.example" }) == "resp.destination")
        #expect(try world.outcome(try world.response { $0.destination = "" }) == "resp.destination")
        #expect(try world.outcome(try world.response { $0.destination = nil }) == "OK")
        let signed = try world.response {
            $0.destination = nil
            $0.signature = SignatureTemplate()
        }
        #expect(try world.outcome(signed) == "resp.destination")
    }

    @Test("mvpd #70: a response to nothing, and to another request")
    func checksInResponseTo() throws {
        #expect(try world.outcome(try world.response { $0.inResponseTo = nil }) == "unsolicited")
        #expect(try world.outcome(try world.response { $0.inResponseTo = "_other" }) == "resp.request")
    }

    @Test(
        "a response that is too old or from the future",
        arguments: [(-361, "resp.stale"), (-360, "OK"), (60, "OK"), (61, "resp.stale")] as [(Int64, String)])
    func checksResponseAge(offset: Int64, outcome: String) throws {
        #expect(try world.outcome(try world.response { $0.issueInstant = instant(offset) }) == outcome)
    }

    @Test("another issuer of response or assertion, and an issuer of another format")
    func checksIssuer() throws {
        #expect(try world.outcome(try world.response { $0.issuer = "https://evil.example" }) == "issuer")
        #expect(try world.outcome(try world.response { $0.issuer = nil }) == "OK")
        #expect(try world.outcome(try world.assertion { $0.issuer = "https://evil.example" }) == "issuer")
        let formatted = try world.response().replacingFirst(
            "<saml:Issuer>", with: "<saml:Issuer Format=\"urn:oasis:names:tc:SAML:2.0:nameid-format:persistent\">")
        #expect(try world.outcome(formatted) == "issuer")
    }

    @Test("mvpd #111: behind a proxy the issuer is the MVPD's id or providerId, never the proxy's own id")
    func checksProxiedIssuer() throws {
        let expected = try world.expected { $0.issuer = .proxied(ids: ["TinyCable", "tiny-01"]) }
        func response(_ id: String, _ nameIDAttributes: String = "") throws -> String {
            try world.response {
                $0.issuer = id
                $0.assertion?.issuer = id
                $0.assertion?.nameIDAttributes += nameIDAttributes
            }
        }
        #expect(try world.outcome(try response("TinyCable"), expected) == "OK")
        #expect(try world.outcome(try response("tiny-01"), expected) == "OK")
        #expect(try world.outcome(try response(ResponseTemplate.identityProvider), expected) == "issuer")
        #expect(try world.outcome(try response("tiny-01", " NameQualifier=\"tiny-01\""), expected) == "OK")
        #expect(try world.outcome(try response("tiny-01", " NameQualifier=\"other\""), expected) == "issuer")
    }

    @Test(
        "mvpd #77: a condition that is not understood; the two that are",
        arguments: [
            ("<saml:Condition xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"x\"/>", "condition"),
            ("<x xmlns=\"urn:x\"/>", "condition"),
            ("<saml:OneTimeUse/><saml:ProxyRestriction Count=\"0\"/>", "OK"),
        ])
    func checksConditions(xml: String, outcome: String) throws {
        #expect(try world.outcome(try world.assertion { $0.furtherConditions = xml }) == outcome)
    }

    @Test("mvpd #78: a success without assertion, and an assertion under a failure status")
    func checksStatusAgainstAssertion() throws {
        #expect(try world.outcome(try world.response { $0.assertion = nil }) == "sig.missing")
        let signed = try world.response {
            $0.assertion = nil
            $0.signature = SignatureTemplate()
        }
        #expect(try world.outcome(signed, try world.expected { $0.signaturePolicy = .response }) == "assert.form")
        #expect(try world.outcome(try world.response { $0.status = ["urn:oasis:names:tc:SAML:2.0:status:Responder"] }) == "misconfigured")
        let twice = try world.response().replacingFirst(
            "</samlp:Status>", with: "</samlp:Status><samlp:Status><samlp:StatusCode Value=\"x\"/></samlp:Status>")
        #expect(try world.outcome(twice) == "misconfigured")
    }

    @Test(
        "mvpd #17, #18: what a status means",
        arguments: [
            ("NoPassive", "notAuthenticated"), ("AuthnFailed", "declined"), ("RequestDenied", "declined"), ("UnknownPrincipal", "declined"),
            ("InvalidNameIDPolicy", "misconfigured"), ("UnsupportedBinding", "misconfigured"), ("NoAvailableIDP", "misconfigured"),
            ("Novel", "misconfigured"),
        ])
    func readsStatus(code: String, outcome: String) throws {
        let xml = try world.response {
            $0.assertion = nil
            $0.status = ["urn:oasis:names:tc:SAML:2.0:status:Responder", "urn:oasis:names:tc:SAML:2.0:status:" + code]
        }
        #expect(try world.outcome(xml) == outcome)
        #expect(try world.outcome(xml, try world.expected { $0.signaturePolicy = .response }) == "sig.missing")
        #expect(try world.outcome(xml.replacingFirst("_request-1", with: "_other")) == "resp.request")
    }

    @Test("a status shows only codes that SAML defines")
    func hidesUnknownCodes() throws {
        let xml = try world.response {
            $0.assertion = nil
            $0.status = ["urn:oasis:names:tc:SAML:2.0:status:Responder", "https://evil.example/ada@example.com"]
        }
        guard case .status(let status) = try world.report(xml).verdict else {
            Issue.record("no status")
            return
        }
        #expect(status.codes == ["Responder", "other"])
    }

    @Test(
        "mvpd #112: a sign-in one second ahead of our clock is accepted, further than the skew not",
        arguments: [(1, "OK"), (60, "OK"), (61, "authn")] as [(Int64, String)])
    func checksAuthnInstant(offset: Int64, outcome: String) throws {
        #expect(try world.outcome(try world.assertion { $0.authnInstant = instant(offset) }) == outcome)
    }

    @Test("what is refused for its time says how our clock looks to the sender; what else is wrong does not")
    func tellsClock() throws {
        func clock(_ xml: String) throws -> String? {
            guard case .rejected(let rejection) = try world.report(xml).verdict else { return "accepted" }
            return rejection.clock?.rawValue
        }
        #expect(try clock(try world.assertion { $0.notBefore = instant(61) }) == "behind")
        #expect(try clock(try world.assertion { $0.notOnOrAfter = instant(-60) }) == "ahead")
        #expect(try clock(try confirmation { $0.notOnOrAfter = instant(-60) }) == "ahead")
        #expect(try clock(try world.response { $0.issueInstant = instant(-361) }) == "ahead")
        #expect(try clock(try world.response { $0.issueInstant = instant(61) }) == "behind")
        #expect(try clock(try world.assertion { $0.authnInstant = instant(61) }) == "behind")
        #expect(try clock(try confirmation { $0.notOnOrAfter = nil }) == nil)
        #expect(
            try clock(
                try confirmation {
                    $0.notOnOrAfter = instant(-60)
                    $0.recipient = "https://evil.example"
                }) == nil)
        #expect(try clock(try world.response { $0.inResponseTo = nil }) == nil)
    }

    @Test("a sign-in before the request is refused when a new one was asked for")
    func checksForceAuthn() throws {
        let xml = try world.assertion { $0.authnInstant = instant(-30 - 61) }
        #expect(try world.outcome(xml) == "OK")
        #expect(try world.outcome(xml, try world.expected { $0.forceAuthn = true }) == "authn")
        let fresh = try world.assertion { $0.authnInstant = instant(-30 - 60) }
        #expect(try world.outcome(fresh, try world.expected { $0.forceAuthn = true }) == "OK")
    }

    @Test("mvpd #16, #113: the MVPD's end of the session is read; an end that has passed is refused")
    func checksSessionEnd() throws {
        let xml = try world.assertion { $0.sessionNotOnOrAfter = instant(100) }
        #expect(try world.accepted(xml).sessionNotOnOrAfter == World.now + .seconds(100))
        #expect(try world.accepted(try world.response()).sessionNotOnOrAfter == nil)
        #expect(try world.outcome(try world.assertion { $0.sessionNotOnOrAfter = instant(0) }) == "authn")
        #expect(try world.outcome(try world.assertion { $0.sessionNotOnOrAfter = "never" }) == "authn")
    }

    @Test("an assertion without an authn statement is refused")
    func requiresAuthnStatement() throws {
        #expect(try world.outcome(try world.assertion { $0.hasAuthnStatement = false }) == "authn")
    }

    @Test("an assertion that lacks its own form is refused")
    func checksAssertionForm() throws {
        #expect(try world.outcome(try world.assertion { $0.issueInstant = "x" }) == "assert.form")
        #expect(try world.outcome(try world.assertion { $0.issueInstant = instant(61) }) == "assert.form")
    }
}
