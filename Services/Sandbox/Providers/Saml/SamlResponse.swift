internal import SandboxKit
internal import Clocks

/// The answer to a request, as text for the HTTP POST binding.
struct SamlResponse {
    let provider: IdentityProvider
    let request: AuthnRequest
    let now: Timestamp
    /// The attributes that were asked for; nil: all.
    var attributeNames: Set<String>?
    /// Whether the assertion is written with line breaks.
    var breaksLines = false

    /// The answer for a person who signed in.
    func success(_ person: Person, session: ProviderSession, format: NameIDFormat) throws(XmlRefusal) -> String {
        let assertion = Assertion(
            provider: provider, request: request, person: person, session: session, format: format, now: now,
            attributeNames: attributeNames, breaksLines: breaksLines
        )
        var text = try assertion.serialized()
        if provider.settings.encryptAssertion {
            guard let recipient = provider.serviceProvider.encryptionCertificate else { throw XmlRefusal(reason: "no encryption certificate") }
            text = try XmlEncryption.encryptedAssertion(text, to: recipient)
        }
        return try serialized(status: .element("samlp:StatusCode", ["Value": SamlStatus.success]), message: nil, assertion: .written(text))
    }

    /// The answer when the sign-in failed or was cancelled.
    func failure(_ status: SamlStatus) throws(XmlRefusal) -> String {
        let code = XmlNode.element(
            "samlp:StatusCode", ["Value": status.topLevel],
            [
                .element("samlp:StatusCode", ["Value": status.secondLevel])
            ])
        return try serialized(status: code, message: status.message, assertion: nil)
    }

    private func serialized(status: XmlNode, message: String?, assertion: XmlNode?) throws(XmlRefusal) -> String {
        let identifier = RandomIdentifier.next()
        let signs = provider.settings.signResponse
        let attributes: KeyValuePairs<String, String?> = [
            "xmlns:samlp": XmlNames.protocol, "xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0",
            "IssueInstant": Instant.text(now), "Destination": provider.serviceProvider.acsURL, "InResponseTo": request.identifier,
        ]
        var children: [XmlNode] = [.element("saml:Issuer", [:], [.text(request.proxiedProvider ?? provider.settings.entityID)])]
        if signs { children.append(XmlSignature.template(identifier: identifier, certificate: provider.certificate)) }
        let statusMessage = message.map { XmlNode.element("samlp:StatusMessage", [:], [.text($0)]) }
        children.append(.element("samlp:Status", [:], [status] + (statusMessage.map { [$0] } ?? [])))
        if let assertion { children.append(assertion) }
        let text = XmlNode.element("samlp:Response", attributes, children).serialized()
        return signs ? try XmlSignature.sign(text, identifier: identifier, key: provider.key) : text
    }
}

/// The top-level and second-level status codes of a SAML answer without assertion (SAML core §3.2.2.2).
enum SamlStatus: String, Sendable {
    case authnFailed = "AuthnFailed"
    case noPassive = "NoPassive"
    case invalidNameIDPolicy = "InvalidNameIDPolicy"

    private static let prefix = "urn:oasis:names:tc:SAML:2.0:status:"
    static let success = prefix + "Success"

    var topLevel: String { Self.prefix + (self == .invalidNameIDPolicy ? "Requester" : "Responder") }
    var secondLevel: String { Self.prefix + rawValue }

    var message: String {
        switch self {
        case .authnFailed: "The person did not sign in"
        case .noPassive: "Nobody is signed in, and the request forbids to ask"
        case .invalidNameIDPolicy: "This kind of name identifier is not offered"
        }
    }
}
