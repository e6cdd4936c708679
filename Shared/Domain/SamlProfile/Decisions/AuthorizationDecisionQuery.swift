public import Clocks

/// A request to a decision point, as a SAML query inside SOAP 1.1 (mvpd §4.1).
public struct AuthorizationDecisionQuery: Hashable, Sendable {
    public var id: RequestID
    public var issuedAt: Timestamp
    /// The decision point's address.
    public var destination: String
    /// The base `spEntityId`.
    public var serviceProviderEntityID: String
    /// The requestor, or the `partnerId` that replaces it.
    public var onBehalfOf: String
    public var scopingMode: ScopingMode
    public var request: DecisionRequest

    /// - Parameters:
    ///   - id: A fresh one for each query.
    ///   - issuedAt: `IssueInstant`.
    ///   - destination: The decision point's address.
    ///   - serviceProviderEntityID: The base `spEntityId`, without the requestor.
    ///   - onBehalfOf: The requestor's id, or its `partnerId`.
    ///   - scopingMode: How the query names `onBehalfOf`.
    ///   - request: The XACML request inside the query.
    public init(
        id: RequestID, issuedAt: Timestamp, destination: String, serviceProviderEntityID: String, onBehalfOf: String, scopingMode: ScopingMode,
        request: DecisionRequest
    ) {
        self.id = id
        self.issuedAt = issuedAt
        self.destination = destination
        self.serviceProviderEntityID = serviceProviderEntityID
        self.onBehalfOf = onBehalfOf
        self.scopingMode = scopingMode
        self.request = request
    }

    /// The issuer as it is sent; an accepted audience of the answer.
    public var issuer: String {
        scopingMode.usesSuffix ? ServiceProviderMetadata.entityID(serviceProviderEntityID, requestor: onBehalfOf) : serviceProviderEntityID
    }

    /// The SOAP envelope.
    /// - Parameter key: Signs the query, with an enveloped signature behind its issuer; nil: the query is authenticated by other means.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func envelope(signedWith key: SamlSigningKey?) throws(SamlConfigurationError) -> String {
        let query = document(signatureFor: key?.certificate)
        let signed = if let key { try key.sign(query) } else { query }
        // The query declares every namespace that it uses, so that its canonical form is the same inside and outside the envelope.
        return "<s:Envelope xmlns:s=\"\(Namespaces.soap)\"><s:Body>\(signed)</s:Body></s:Envelope>"
    }

    private func document(signatureFor certificate: [UInt8]?) -> String {
        var writer = MarkupWriter()
        writer.element(
            "q:XACMLAuthzDecisionQuery",
            [
                ("xmlns:q", "\(Namespaces.decisionProtocol)"), ("xmlns:saml", "\(Namespaces.assertion)"), ("ID", id.rawValue), ("Version", "2.0"),
                ("IssueInstant", SamlInstant.format(issuedAt)), ("CombinePolicies", "false"), ("Destination", destination),
            ]
        ) { query in
            query.element("saml:Issuer", text: issuer)
            if let certificate { query.signatureTemplate(over: id.rawValue, certificate: certificate) }
            request.write(to: &query)
        }
        return writer.text
    }
}
