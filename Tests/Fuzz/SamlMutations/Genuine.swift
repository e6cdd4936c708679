import Clocks
import Foundation
import SamlProfile
import SamlSigner

/// A message that must be accepted, and all that is read from it.
struct Genuine: Sendable {
    let name: String
    let text: [UInt8]
    let expected: ExpectedResponse
    let assertion: VerifiedAssertion

    /// 2031-03-04T10:00:05Z, five seconds after the messages of the templates.
    static let now = Timestamp(seconds: 1_930_384_805)

    /// Nil: refused, or a status.
    static func verdict(_ encoded: String, _ expected: ExpectedResponse) -> (accepted: VerifiedAssertion?, reason: String) {
        do throws(SamlRejection) {
            switch ResponseVerifier().verify(try UnverifiedResponse(encoded: encoded), expecting: expected, at: now).verdict {
            case .accepted(let assertion): return (assertion, "accepted")
            case .rejected(let rejection): return (nil, rejection.reason.rawValue)
            case .status: return (nil, "status")
            }
        } catch {
            return (nil, error.reason.rawValue)
        }
    }

    private init(_ name: String, _ xml: String, _ expected: ExpectedResponse) throws {
        self.name = name
        text = Array(xml.utf8)
        self.expected = expected
        let (accepted, reason) = Self.verdict(Data(text).base64EncodedString(), expected)
        guard let accepted else { throw Failure("the genuine message '\(name)' is refused: \(reason)") }
        assertion = accepted
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Signed assertion, response and both; encrypted after signing; encrypted by AES-CBC inside a signed response.
    static func all() throws -> [Genuine] {
        let provider = try SignerIdentity()
        let ourselves = try SignerIdentity(commonName: "sp.pass.example")
        let base = try expected(provider, ourselves)
        var response = base
        response.signaturePolicy = .response
        var both = base
        both.signaturePolicy = .both
        let signed = try Signer.sign(assertion().xml, signatureOf: "Assertion", with: provider)
        var cbc = Encrypter()
        cbc.content = ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "aes-128")
        var unsigned = assertion()
        unsigned.signature = nil
        return [
            try Genuine("assertion", template().signed(by: provider), base),
            try Genuine(
                "response",
                template {
                    $0.signature = SignatureTemplate(); $0.assertion?.signature = nil
                }.signed(by: provider), response),
            try Genuine("both", template { $0.signature = SignatureTemplate() }.signed(by: provider), both),
            try Genuine("encrypted", template { $0.content = try Encrypter().encrypt(signed, for: ourselves) }.signed(by: provider), base),
            try Genuine(
                "encrypted in a signed response",
                template {
                    $0.content = try cbc.encrypt(unsigned.xml, for: ourselves); $0.signature = SignatureTemplate()
                }.signed(by: provider),
                response),
        ]
    }

    /// The same message about someone else, properly signed: what the comparison has to notice.
    static func counterfeit() throws -> (genuine: Genuine, other: VerifiedAssertion) {
        let provider = try SignerIdentity()
        let expected = try expected(provider, provider)
        let genuine = try Genuine("assertion", template().signed(by: provider), expected)
        let other = try template { $0.assertion?.nameID = "someone-else" }.signed(by: provider)
        guard let accepted = verdict(Data(other.utf8).base64EncodedString(), expected).accepted else { throw Failure("the counterfeit is refused") }
        return (genuine, accepted)
    }

    private static func assertion() -> AssertionTemplate {
        var assertion = AssertionTemplate()
        assertion.sessionNotOnOrAfter = "2031-03-04T18:00:00Z"
        assertion.attributes +=
            AssertionTemplate.attribute("zip", ["10001", "94105"]) + AssertionTemplate.attribute("MaxTVRating", ["TV-PG"])
            + AssertionTemplate.attribute("is_hoh", ["true"])
        return assertion
    }

    private static func template(_ change: (inout ResponseTemplate) throws -> Void = { _ in }) rethrows -> ResponseTemplate {
        var template = ResponseTemplate()
        template.assertion = assertion()
        try change(&template)
        return template
    }

    private static func expected(_ provider: SignerIdentity, _ ourselves: SignerIdentity) throws -> ExpectedResponse {
        var expected = ExpectedResponse(
            requestID: ResponseTemplate.requestID, requestedAt: now - .seconds(30),
            assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService,
            issuer: .direct(entityID: ResponseTemplate.identityProvider), serviceProviderEntityID: ResponseTemplate.serviceProvider,
            issuerSent: ResponseTemplate.serviceProvider + "/on-behalf-of/NEWSBRAND",
            pinnedCertificates: [try PinnedCertificate(der: provider.certificateDER)],
            nameIDFormats: ["urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"])
        expected.attributeMap = [
            AttributeMapping(source: "householdID", target: "householdID"), AttributeMapping(source: "zip", target: "zip", type: .list),
            AttributeMapping(source: "MaxTVRating", target: "maxRating.VCHIP"),
            AttributeMapping(source: "is_hoh", target: "is_hoh", type: .boolean), AttributeMapping(source: "", target: "userID"),
        ]
        expected.decryptionKeys = [try DecryptionKey(pem: ourselves.privateKeyPEM)]
        return expected
    }
}
