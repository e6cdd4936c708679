import Clocks
import SamlProfile
import SamlSigner

/// Throwaway keys of all parties, made once for the whole run.
struct World: Sendable {
    static let shared = Result { try World() }

    /// 2031-03-04T10:00:05Z, five seconds after the messages of the templates.
    static let now = Timestamp(seconds: 1_930_384_805)

    let identityProvider: SignerIdentity
    /// The identity provider's next key.
    let successor: SignerIdentity
    /// An impostor under the identity provider's name.
    let stranger: SignerIdentity
    let ellipticProvider: SignerIdentity
    let weakProvider: SignerIdentity
    let serviceProvider: SignerIdentity

    private init() throws {
        identityProvider = try SignerIdentity()
        successor = try SignerIdentity()
        stranger = try SignerIdentity()
        ellipticProvider = try SignerIdentity(.p256)
        weakProvider = try SignerIdentity(.rsa(bits: 1024))
        serviceProvider = try SignerIdentity(commonName: "sp.pass.example")
    }

    /// The response that the service expects, before a test changes it.
    func expected(_ change: (inout ExpectedResponse) throws -> Void = { _ in }) throws -> ExpectedResponse {
        var expected = ExpectedResponse(
            requestID: ResponseTemplate.requestID, requestedAt: World.now - .seconds(30),
            assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService,
            issuer: .direct(entityID: ResponseTemplate.identityProvider), serviceProviderEntityID: ResponseTemplate.serviceProvider,
            issuerSent: ResponseTemplate.serviceProvider + "/on-behalf-of/NEWSBRAND",
            pinnedCertificates: [try PinnedCertificate(der: identityProvider.certificateDER)],
            nameIDFormats: ["urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"])
        expected.attributeMap = [AttributeMapping(source: "householdID", target: "householdID")]
        try change(&expected)
        return expected
    }

    /// A response signed by the identity provider, after a test changed its template.
    func response(_ change: (inout ResponseTemplate) -> Void = { _ in }) throws -> String {
        var template = ResponseTemplate()
        change(&template)
        return try template.signed(by: identityProvider)
    }

    /// A response with a changed assertion.
    func assertion(_ change: (inout AssertionTemplate) -> Void) throws -> String {
        try response { template in
            var assertion = AssertionTemplate()
            change(&assertion)
            template.assertion = assertion
        }
    }

    func report(_ xml: String, _ expected: ExpectedResponse? = nil, at now: Timestamp = World.now) throws -> ResponseReport {
        ResponseVerifier().verify(try UnverifiedResponse(encoded: base64(xml)), expecting: try expected ?? self.expected(), at: now)
    }

    /// `OK`, the consequence of a status, or the reason code of the rejection.
    func outcome(_ xml: String, _ expected: ExpectedResponse? = nil, at now: Timestamp = World.now) throws -> String {
        switch try report(xml, expected, at: now).verdict {
        case .accepted: "OK"
        case .status(let status): "\(status.consequence)"
        case .rejected(let rejection): rejection.reason.rawValue
        }
    }

    /// The assertion of a response that must be accepted.
    func accepted(_ xml: String, _ expected: ExpectedResponse? = nil) throws -> VerifiedAssertion {
        switch try report(xml, expected).verdict {
        case .accepted(let assertion): return assertion
        case .status(let status): throw NotAccepted(reason: "\(status)")
        case .rejected(let rejection): throw NotAccepted(reason: "\(rejection)")
        }
    }
}

struct NotAccepted: Error {
    let reason: String
}
