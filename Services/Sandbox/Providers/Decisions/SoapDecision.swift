internal import SandboxKit
internal import Clocks

/// An answer in the SOAP form (mvpd §4.2): a SAML Response with its signature after the status, as in published samples.
struct SoapDecision {
    let provider: IdentityProvider
    let query: DecisionMessage.Query
    let response: XacmlResponse
    let manner: SoapManner
    let now: Timestamp

    func serialized() throws(XmlRefusal) -> String {
        let (message, assertion) = (RandomIdentifier.next(), RandomIdentifier.next())
        var text = self.message(message, assertion).serialized()
        if manner.signature.coversAssertion { text = try XmlSignature.sign(text, identifier: assertion, key: provider.key) }
        if manner.signature.coversResponse { text = try XmlSignature.sign(text, identifier: message, key: provider.key) }
        return XmlNode.element("s:Envelope", ["xmlns:s": XmlNames.soap], [.element("s:Body", [:], [.written(text)])]).serialized()
    }

    private var issued: Timestamp { now - manner.age }
    private var issuer: XmlNode { .element("saml:Issuer", [:], [.text(manner.issuer ?? provider.settings.entityID)]) }

    private func message(_ identifier: String, _ assertion: String) -> XmlNode {
        var children = [
            issuer, XmlNode.element("samlp:Status", [:], [.element("samlp:StatusCode", ["Value": SamlStatus.success])]),
        ]
        if manner.signature.coversResponse { children.append(XmlSignature.template(identifier: identifier, certificate: provider.certificate)) }
        children.append(self.assertion(assertion))
        return .element(
            "samlp:Response",
            [
                "xmlns:samlp": XmlNames.protocol, "xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0",
                "IssueInstant": Instant.text(issued), "InResponseTo": manner.namesQuery ? query.identifier : nil,
            ], children)
    }

    private func assertion(_ identifier: String) -> XmlNode {
        var children = [issuer]
        if manner.signature.coversAssertion { children.append(XmlSignature.template(identifier: identifier, certificate: provider.certificate)) }
        let audience = XmlNode.element("saml:Audience", [:], [.text(manner.audience ?? query.issuer)])
        children.append(
            .element(
                "saml:Conditions", ["NotBefore": Instant.text(issued), "NotOnOrAfter": Instant.text(issued + manner.validity)],
                [.element("saml:AudienceRestriction", [:], [audience])]))
        children.append(.element("xs:XACMLAuthzDecisionStatement", ["xmlns:xs": XmlNames.decisionAssertion], [response.xml]))
        return .element(
            "saml:Assertion", ["xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0", "IssueInstant": Instant.text(issued)], children)
    }
}
