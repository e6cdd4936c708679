import Clocks
import Foundation
import SamlProfile
import SamlSigner
import Testing

/// The responses that have to be accepted, and the facts that are read from them.
struct AcceptanceTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    @Test("mvpd #8: a signed assertion is accepted, and everything the session needs is read from it")
    func acceptsSignedAssertion() throws {
        let assertion = try world.accepted(
            try world.assertion {
                $0.nameIDAttributes += " NameQualifier=\"harbor\" SPNameQualifier=\"pass\" SPProvidedID=\"x1\""
                $0.sessionNotOnOrAfter = "2031-03-04T22:00:00Z"
            })
        #expect(assertion.userID.rawValue == "k3Yq-0091")
        let nameID = try #require(assertion.nameID)
        #expect(nameID.value.rawValue == "k3Yq-0091")
        #expect(nameID.format == "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent")
        #expect(nameID.nameQualifier == "harbor")
        #expect(nameID.spNameQualifier == "pass")
        #expect(nameID.spProvidedID == "x1")
        #expect(assertion.sessionIndex == "_session-9")
        #expect(assertion.authnInstant == World.now - .seconds(10))
        #expect(assertion.sessionNotOnOrAfter == World.now + .seconds(12 * 3600 - 5))
        #expect(assertion.replayKey.issuer == ResponseTemplate.identityProvider)
        #expect(assertion.replayKey.assertionID == "_assertion-1")
        #expect(assertion.replayKey.expiresAt == World.now + .seconds(295 + 60))
        #expect(assertion.attributes == [MappedAttribute(key: "householdID", value: .string("house-7"))])
    }

    @Test("mvpd #9: a response-only signature fits the policy `response` and not the policy `assertion`")
    func acceptsSignedResponse() throws {
        let xml = try world.response {
            $0.assertion?.signature = nil
            $0.signature = SignatureTemplate()
        }
        #expect(try world.outcome(xml, try world.expected { $0.signaturePolicy = .response }) == "OK")
        #expect(try world.outcome(xml, try world.expected { $0.signaturePolicy = .assertion }) == "sig.missing")
        #expect(try world.outcome(xml, try world.expected { $0.signaturePolicy = .both }) == "sig.missing")
        let other = try world.response()
        #expect(try world.outcome(other, try world.expected { $0.signaturePolicy = .response }) == "sig.missing")
    }

    @Test("mvpd #10: both signatures are accepted under every policy", arguments: [SignaturePolicy.assertion, .response, .both])
    func acceptsBothSignatures(policy: SignaturePolicy) throws {
        let xml = try world.response { $0.signature = SignatureTemplate() }
        #expect(try world.outcome(xml, try world.expected { $0.signaturePolicy = policy }) == "OK")
    }

    @Test("mvpd #10: either signature broken refuses the message, also when the policy does not ask for it", arguments: [0, 1])
    func refusesBrokenSecondSignature(index: Int) throws {
        let xml = try world.response { $0.signature = SignatureTemplate() }
        var parts = xml.components(separatedBy: "<ds:SignatureValue>")
        let first = try #require(parts[index + 1].first)
        parts[index + 1].replaceSubrange(parts[index + 1].startIndex...parts[index + 1].startIndex, with: first == "A" ? "B" : "A")
        let broken = parts.joined(separator: "<ds:SignatureValue>")
        for policy in [SignaturePolicy.assertion, .response, .both] {
            #expect(try world.outcome(broken, try world.expected { $0.signaturePolicy = policy }) == "sig.invalid")
        }
    }

    @Test("mvpd #12: a second pinned certificate is used; one that is not pinned is not")
    func acceptsSecondPinnedCertificate() throws {
        var template = ResponseTemplate()
        template.signature = SignatureTemplate()
        let xml = try template.signed(by: world.successor)
        let both = try world.expected { $0.pinnedCertificates.append(try PinnedCertificate(der: world.successor.certificateDER)) }
        #expect(try world.outcome(xml, both) == "OK")
        #expect(try world.outcome(xml) == "sig.invalid")
    }

    @Test("an ECDSA signature is accepted from an EC certificate")
    func acceptsECDSA() throws {
        var template = ResponseTemplate()
        template.assertion?.signature?.method = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"
        let xml = try template.signed(by: world.ellipticProvider)
        let expected = try world.expected { $0.pinnedCertificates = [try PinnedCertificate(der: world.ellipticProvider.certificateDER)] }
        #expect(try world.outcome(xml, expected) == "OK")
        #expect(try world.outcome(xml) == "sig.invalid")
    }

    @Test("the longer SHA-2 signatures and digests are accepted", arguments: ["384", "512"])
    func acceptsLongerDigests(size: String) throws {
        let xml = try world.assertion {
            $0.signature?.method = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha\(size)"
            $0.signature?.digest = size == "384" ? "http://www.w3.org/2001/04/xmldsig-more#sha384" : "http://www.w3.org/2001/04/xmlenc#sha512"
        }
        #expect(try world.outcome(xml) == "OK")
        #expect(try world.outcome(xml, try world.expected { $0.signatureAlgorithms = [.rsaSHA256] }) == "sig.alg")
    }

    @Test("a prefix list at the canonicalization is accepted")
    func acceptsInclusiveNamespaces() throws {
        let list = "<ec:InclusiveNamespaces xmlns:ec=\"http://www.w3.org/2001/10/xml-exc-c14n#\" PrefixList=\"xs\"/>"
        let xml = try world.assertion {
            $0.declarations = "xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
            $0.attributes =
                "<saml:Attribute Name=\"householdID\"><saml:AttributeValue xsi:type=\"xs:string\">h</saml:AttributeValue></saml:Attribute>"
            $0.signature?.transforms =
                SignatureTemplate.enveloped
                + "<ds:Transform Algorithm=\"\(SignatureTemplate.exclusiveCanonicalization)\">\(list)</ds:Transform>"
        }
        #expect(try world.accepted(xml).attributes == [MappedAttribute(key: "householdID", value: .string("h"))])
    }

    @Test("values are read without the white space of a pretty-printed message")
    func trimsValues() throws {
        let xml = try world.assertion {
            $0.nameID = "\n   k3Yq-0091\n  "
            $0.issuer = "\n\t\(ResponseTemplate.identityProvider) "
            $0.audiences = [["\n \(ResponseTemplate.serviceProvider)\n"]]
        }
        #expect(try world.accepted(xml).userID.rawValue == "k3Yq-0091")
    }

    @Test("escaped characters in text and attributes arrive as themselves")
    func readsEscapes() throws {
        let xml = try world.assertion {
            $0.nameID = "a&amp;b&lt;c&#x41;é"
            $0.attributes = AssertionTemplate.attribute("house&amp;hold &quot;id&quot;", ["&lt;1&gt;"])
        }
        let expected = try world.expected { $0.attributeMap = [AttributeMapping(source: "house&hold \"id\"", target: "householdID")] }
        let assertion = try world.accepted(xml, expected)
        #expect(assertion.userID.rawValue == "a&b<cAé")
        #expect(assertion.attributes == [MappedAttribute(key: "householdID", value: .string("<1>"))])
    }

    @Test("comments between elements do no harm")
    func acceptsStructuralComments() throws {
        let xml = try Markup(world.response()).replacing("<samlp:Status>", with: "<!-- status --><samlp:Status>").text
        #expect(try world.outcome(xml) == "OK")
    }

    @Test("the trace names every check, and no value of the message")
    func tracesChecks() throws {
        let report = try world.report(try world.response())
        #expect(report.trace.entries.allSatisfy { $0.passed })
        let made = Set(report.trace.entries.map(\.check))
        let elsewhere: Set<Check> = [.parameters, .pendingRequest, .decryption, .replay]
        #expect(made == Set(Check.allCases).subtracting(elsewhere))
        #expect(!"\(report.trace)".contains("k3Yq"))
        #expect(!"\(report)".contains("k3Yq"))
    }

    @Test("the trace of a refused message ends with the failed check")
    func tracesFailure() throws {
        let report = try world.report(try world.assertion { $0.audiences = [] })
        let last = try #require(report.trace.entries.last)
        #expect(last.check == .audience && !last.passed)
        #expect(report.trace.entries.dropLast().allSatisfy { $0.passed })
    }
}
