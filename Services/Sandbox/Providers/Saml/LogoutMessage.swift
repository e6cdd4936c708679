internal import SandboxKit
internal import Clocks

/// A logout message of the provider's own, ready for either binding.
struct LogoutMessage {
    /// It goes to the service provider in one of these ways.
    enum Delivery {
        case redirect(String)
        /// Field name and value of a form.
        case form(String, String)
    }

    let provider: IdentityProvider
    let identifier: String
    /// `SAMLRequest` or `SAMLResponse`.
    let parameter: String
    let relayState: String?
    let issuer: String
    private let name: String
    private let attributes: KeyValuePairs<String, String?>
    private let children: [XmlNode]

    /// The answer to a request.
    static func answer(
        _ request: LogoutRequest, from issuer: String, status: String, provider: IdentityProvider, identifier: String, now: Timestamp
    ) -> LogoutMessage {
        LogoutMessage(
            provider: provider, identifier: identifier, parameter: "SAMLResponse", relayState: request.relayState, issuer: issuer,
            name: "samlp:LogoutResponse",
            attributes: [
                "xmlns:samlp": XmlNames.protocol, "xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0",
                "IssueInstant": Instant.text(now), "Destination": provider.serviceProvider.logoutURL, "InResponseTo": request.identifier,
            ],
            children: [
                .element(
                    "samlp:Status", [:], [.element("samlp:StatusCode", ["Value": "urn:oasis:names:tc:SAML:2.0:status:" + status])])
            ])
    }

    /// A request to end a session that was given out under this name.
    static func request(
        _ issued: IssuedName, index: String, provider: IdentityProvider, identifier: String, relayState: String?, now: Timestamp
    ) -> LogoutMessage {
        let names: KeyValuePairs<String, String?> = [
            "NameQualifier": issued.issuer, "SPNameQualifier": issued.spNameQualifier, "Format": issued.format,
        ]
        return LogoutMessage(
            provider: provider, identifier: identifier, parameter: "SAMLRequest", relayState: relayState, issuer: issued.issuer,
            name: "samlp:LogoutRequest",
            attributes: [
                "xmlns:samlp": XmlNames.protocol, "xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0",
                "IssueInstant": Instant.text(now), "Destination": provider.serviceProvider.logoutURL,
                "NotOnOrAfter": Instant.text(now + Assertion.validity),
            ],
            children: [
                .element("saml:NameID", names, [.text(issued.name)]), .element("samlp:SessionIndex", [:], [.text(index)]),
            ])
    }

    func redirect() throws(XmlRejection) -> Delivery {
        var query = "\(parameter)=" + FormFields.encoded(Base64.text(try RawDeflate.deflate(Array(document(signature: []).utf8))))
        if let relayState { query += "&RelayState=" + FormFields.encoded(relayState) }
        query += "&SigAlg=" + FormFields.encoded("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256")
        query += "&Signature=" + FormFields.encoded(Base64.text(try provider.key.sign(Array(query.utf8))))
        return .redirect(provider.serviceProvider.logoutURL + "?" + query)
    }

    func form() throws(XmlRejection) -> Delivery {
        let unsigned = document(signature: [XmlSignature.template(identifier: identifier, certificate: provider.certificate)])
        return .form(parameter, Base64.text(Array(try XmlSignature.sign(unsigned, identifier: identifier, key: provider.key).utf8)))
    }

    private func document(signature: [XmlNode]) -> String {
        XmlNode.element(name, attributes, [.element("saml:Issuer", [:], [.text(issuer)])] + signature + children).serialized()
    }
}

/// A service provider's request to end a person's session, after the checks of ``LogoutReader``.
struct LogoutRequest: Sendable, Equatable {
    let identifier: String
    /// As sent, with or without the requestor's suffix.
    let issuer: String
    let reason: String?
    let nameID: String
    let nameIDFormat: String?
    let nameQualifier: String?
    let spNameQualifier: String?
    let sessionIndexes: [String]
    let relayState: String?
}

/// A service provider's answer to a request of the provider's own.
struct LogoutAnswer: Sendable, Equatable {
    let inResponseTo: String
    /// Without its prefix: `Success`.
    let status: String
    let relayState: String?
}
