import Foundation
import SamlProfile
import SamlSigner
import Testing

/// Signature wrapping: the signed element stays in the document, and another one is offered in its place.
struct WrappingTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    /// A response that is signed as a whole, its signature, and the same content for another user without one.
    private func signedResponse() throws -> (original: String, signature: String, forged: String) {
        let original = try world.response {
            $0.assertion?.signature = nil
            $0.signature = SignatureTemplate()
        }
        let signature = try Markup(original).element("ds:Signature")
        let forged = original.replacingFirst("k3Yq-0091", with: "victim").replacingOccurrences(of: "_response-1", with: "_evil")
            .replacingFirst("_assertion-1", with: "_evil-2")
        return (original, signature, forged)
    }

    /// A response with a signed assertion, that assertion, its signature, and a forged assertion without one.
    private func signedAssertion() throws -> (xml: String, assertion: String, signature: String, forged: String) {
        let xml = try world.response()
        let assertion = try Markup(xml).element("saml:Assertion")
        let signature = try Markup(xml).element("ds:Signature")
        let forged = try Markup(assertion).removing(signature).text.replacingFirst("k3Yq-0091", with: "victim")
            .replacingFirst("_assertion-1", with: "_evil")
        return (xml, assertion, signature, forged)
    }

    private func refuses(_ xml: String, as reasons: Set<String>) throws {
        for policy in [SignaturePolicy.assertion, .response, .both] {
            let outcome = try world.outcome(xml, try world.expected { $0.signaturePolicy = policy })
            #expect(reasons.contains(outcome), "under \(policy)")
        }
    }

    @Test("mvpd #21: XSW1, a forged response encloses the signature that encloses the original response")
    func refusesXSW1() throws {
        let (original, signature, forged) = try signedResponse()
        let stripped = try Markup(original).removing(signature).text
        let enclosing = signature.replacingFirst("</ds:Signature>", with: stripped + "</ds:Signature>")
        try refuses(forged.replacingFirst(try Markup(forged).element("ds:Signature"), with: enclosing), as: ["xsw.position", "xsw.sigposition"])
    }

    @Test("mvpd #22: XSW2, the original response stands detached in front of its signature")
    func refusesXSW2() throws {
        let (original, signature, forged) = try signedResponse()
        let stripped = try Markup(original).removing(signature).text
        let forgedSignature = try Markup(forged).element("ds:Signature")
        try refuses(forged.replacingFirst(forgedSignature, with: stripped + signature), as: ["xsw.position", "xsw.sigposition"])
    }

    @Test("mvpd #23: XSW3, a forged assertion stands before the signed one")
    func refusesXSW3() throws {
        let (xml, assertion, _, forged) = try signedAssertion()
        try refuses(xml.replacingFirst(assertion, with: forged + assertion), as: ["xsw.position"])
        try refuses(xml.replacingFirst(assertion, with: assertion + forged), as: ["xsw.position"])
    }

    @Test("mvpd #24: XSW4, a forged assertion encloses the signed one")
    func refusesXSW4() throws {
        let (xml, assertion, _, forged) = try signedAssertion()
        let enclosing = forged.replacingFirst("</saml:Assertion>", with: assertion + "</saml:Assertion>")
        try refuses(xml.replacingFirst(assertion, with: enclosing), as: ["xsw.position"])
    }

    @Test("mvpd #25: XSW5, an altered assertion carries the signature, the stripped original follows")
    func refusesXSW5() throws {
        let (xml, assertion, signature, forged) = try signedAssertion()
        let stripped = try Markup(assertion).removing(signature).text
        let altered = forged.replacingFirst("<saml:Subject>", with: signature + "<saml:Subject>")
        try refuses(xml.replacingFirst(assertion, with: altered + stripped), as: ["xsw.position"])
    }

    @Test("mvpd #26: XSW6, the original stands inside the signature of the altered assertion")
    func refusesXSW6() throws {
        let (xml, assertion, signature, forged) = try signedAssertion()
        let stripped = try Markup(assertion).removing(signature).text
        let enclosing = signature.replacingFirst("</ds:Signature>", with: stripped + "</ds:Signature>")
        let altered = forged.replacingFirst("<saml:Subject>", with: enclosing + "<saml:Subject>")
        try refuses(xml.replacingFirst(assertion, with: altered), as: ["xsw.position"])
    }

    @Test("mvpd #27: XSW7, a forged assertion in the extensions")
    func refusesXSW7() throws {
        let (xml, _, _, forged) = try signedAssertion()
        let extensions = "<samlp:Extensions>\(forged)</samlp:Extensions><samlp:Status>"
        try refuses(xml.replacingFirst("<samlp:Status>", with: extensions), as: ["xsw.position"])
    }

    @Test("mvpd #28: XSW8, the original in an object of the signature")
    func refusesXSW8() throws {
        let (xml, assertion, signature, forged) = try signedAssertion()
        let stripped = try Markup(assertion).removing(signature).text
        let enclosing = signature.replacingFirst("</ds:Signature>", with: "<ds:Object>\(stripped)</ds:Object></ds:Signature>")
        let altered = forged.replacingFirst("<saml:Subject>", with: enclosing + "<saml:Subject>")
        try refuses(xml.replacingFirst(assertion, with: altered), as: ["xsw.position", "sig.object"])
    }

    @Test("an assertion inside Advice is refused")
    func refusesAdvice() throws {
        let (xml, _, _, forged) = try signedAssertion()
        let advice = "</saml:Conditions><saml:Advice>\(forged)</saml:Advice>"
        try refuses(xml.replacingFirst("</saml:Conditions>", with: advice), as: ["xsw.position"])
    }

    @Test("a signature anywhere else, and a second one in the same place, is refused")
    func refusesMisplacedSignatures() throws {
        let (xml, _, signature, _) = try signedAssertion()
        try refuses(
            xml.replacingFirst("<samlp:Status>", with: "<samlp:Extensions>\(signature)</samlp:Extensions><samlp:Status>"), as: ["xsw.sigposition"])
        try refuses(xml.replacingFirst(signature, with: signature + signature), as: ["xsw.sigposition"])
    }

    @Test("mvpd #37: an ID that occurs twice is refused, wherever the decoy stands", arguments: [true, false])
    func refusesDuplicateIDs(decoyIsFirst: Bool) throws {
        let decoy = "<x xmlns=\"urn:x\" ID=\"_assertion-1\"/>"
        let xml = try world.response()
        let place = decoyIsFirst ? "<samlp:Status>" : "</samlp:Response>"
        let extended = decoyIsFirst ? "<samlp:Extensions>\(decoy)</samlp:Extensions><samlp:Status>" : decoy + "</samlp:Response>"
        try refuses(xml.replacingFirst(place, with: extended), as: ["xml.dupid"])
    }

    @Test("mvpd #38: decoys in other spellings of ID are refused", arguments: ["xml:id", "Id", "id", "iD", "x:Id"])
    func refusesOtherSpellings(name: String) throws {
        let decoy = "<samlp:Extensions><x xmlns=\"urn:x\" xmlns:x=\"urn:y\" \(name)=\"_assertion-1\"/></samlp:Extensions><samlp:Status>"
        try refuses(try world.response().replacingFirst("<samlp:Status>", with: decoy), as: ["xml.dupid"])
    }

    @Test("an ID that is no NCName is refused", arguments: ["", "1a", "a b", "a:b", "#a"])
    func refusesBadIDs(id: String) throws {
        try refuses(try world.response().replacingFirst("\"_response-1\"", with: "\"\(id)\""), as: ["xml.dupid"])
    }

    @Test("mvpd #50: what an unsigned response says may refuse the sign-in, and never changes who signs in")
    func unsignedFieldsChangeNothing() throws {
        let genuine = try world.response()
        let fields = try [
            Markup(genuine).replacing(":status:Success", with: ":status:Responder").text,
            Markup(genuine).replacing("<saml:Issuer>https://idp", with: "<saml:Issuer>https://evil").text,
            Markup(genuine).replacing("Destination=\"https://sp", with: "Destination=\"https://evil").text,
            Markup(genuine).replacing("InResponseTo=\"_request-1\"", with: "InResponseTo=\"_other\"").text,
        ]
        for xml in fields { #expect(try world.outcome(xml) != "OK") }
        let unaddressed = try Markup(genuine).removing(" Destination=\"\(ResponseTemplate.assertionConsumerService)\"").text
        #expect(try world.accepted(unaddressed) == world.accepted(genuine))
    }
}
