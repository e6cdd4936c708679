internal import SandboxKit
internal import Clocks

/// The statement about a person who signed in (SAML profiles §4.1.4.2).
struct Assertion {
    /// The assertion may be presented for this long.
    static let validity = Duration.seconds(300)

    let provider: IdentityProvider
    let request: AuthnRequest
    let person: Person
    let session: ProviderSession
    let format: NameIDFormat
    let now: Timestamp
    /// The attributes that were asked for; nil: all.
    var attributeNames: Set<String>?
    /// True when each element begins a line of its own.
    var breaksLines = false

    /// The assertion's text, signed when the provider signs assertions.
    func serialized() throws(XmlRejection) -> String {
        let identifier = RandomIdentifier.next()
        let signs = provider.settings.signAssertion
        let node = XmlNode.element(
            "saml:Assertion",
            ["xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0", "IssueInstant": Instant.text(now)],
            [.element("saml:Issuer", [:], [.text(issuer)])]
                + (signs ? [XmlSignature.template(identifier: identifier, certificate: provider.certificate)] : [])
                + [subject, conditions] + (request.queriedAttributes == nil ? [authnStatement] : []) + [attributeStatement]
        )
        let text = breaksLines ? node.serialized().replacing("><", with: ">\n  <") : node.serialized()
        return signs ? try XmlSignature.sign(text, identifier: identifier, key: provider.key) : text
    }

    private var issuer: String { request.proxiedProvider ?? provider.settings.entityID }

    private var end: String { Instant.text(now + Self.validity) }

    private var nameID: String {
        let name = newName
        provider.issuedNames.remember(
            IssuedName(name: name, format: format.rawValue, spNameQualifier: request.spNameQualifier, issuer: issuer), session: session.index)
        return name
    }

    private var newName: String {
        switch format {
        case .persistent: return provider.subscribers.persistentName(of: person)
        case .transient:
            let name = RandomIdentifier.next()
            provider.subscribers.remember(transient: name, of: person)
            return name
        }
    }

    private var subject: XmlNode {
        let names: KeyValuePairs<String, String?> = [
            "Format": format.rawValue, "NameQualifier": issuer, "SPNameQualifier": request.spNameQualifier,
        ]
        let confirmation: KeyValuePairs<String, String?> = [
            "InResponseTo": request.identifier, "NotOnOrAfter": end, "Recipient": provider.serviceProvider.acsURL,
        ]
        return .element(
            "saml:Subject", [:],
            [
                .element("saml:NameID", names, [.text(nameID)]),
                .element(
                    "saml:SubjectConfirmation", ["Method": "urn:oasis:names:tc:SAML:2.0:cm:bearer"],
                    [
                        .element("saml:SubjectConfirmationData", confirmation)
                    ]),
            ])
    }

    private var conditions: XmlNode {
        .element(
            "saml:Conditions", ["NotBefore": Instant.text(now), "NotOnOrAfter": end],
            [
                .element("saml:AudienceRestriction", [:], [.element("saml:Audience", [:], [.text(request.issuer)])])
            ])
    }

    private var authnStatement: XmlNode {
        let method = "urn:oasis:names:tc:SAML:2.0:ac:classes:" + (session.isHomeBased ? "InternetProtocol" : "PasswordProtectedTransport")
        return .element(
            "saml:AuthnStatement", ["AuthnInstant": Instant.text(session.signedInAt), "SessionIndex": session.index],
            [
                .element("saml:AuthnContext", [:], [.element("saml:AuthnContextClassRef", [:], [.text(method)])])
            ])
    }

    private var attributeStatement: XmlNode {
        .element(
            "saml:AttributeStatement", [:],
            attributes.map { name, values in
                .element(
                    "saml:Attribute", ["Name": name, "NameFormat": "urn:oasis:names:tc:SAML:2.0:attrname-format:basic"],
                    values.map { .element("saml:AttributeValue", [:], [.text($0)]) }
                )
            })
    }

    private var attributes: [(name: String, values: [String])] {
        let all = SubscriberAttributes(person: person, subscribers: provider.subscribers, isHomeBased: session.isHomeBased).all
        guard let attributeNames else { return all }
        return all.filter { attributeNames.contains($0.name) }
    }
}
