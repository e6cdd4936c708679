public import Clocks

/// The answer to an MVPD's own logout request (mvpd §2.7), always signed.
public struct SamlLogoutResponse: Hashable, Sendable {
    public var id: RequestID
    public var issuedAt: Timestamp
    /// Where the MVPD takes answers.
    public var destination: String
    public var issuer: String
    /// `ID` of the request.
    public var inResponseTo: String

    /// - Parameters:
    ///   - id: A fresh one for each response.
    ///   - issuedAt: `IssueInstant`.
    ///   - destination: Where the MVPD takes answers.
    ///   - issuer: The service provider's entity id.
    ///   - inResponseTo: `ID` of the request.
    public init(id: RequestID, issuedAt: Timestamp, destination: String, issuer: String, inResponseTo: String) {
        self.id = id
        self.issuedAt = issuedAt
        self.destination = destination
        self.issuer = issuer
        self.inResponseTo = inResponseTo
    }

    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func redirectURL(signedWith key: SigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> String {
        try binding(key, relayState).redirectURL(document())
    }

    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func postForm(signedWith key: SigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> PostForm {
        try binding(key, relayState).postForm(document(signatureFor: key.certificate))
    }

    private func binding(_ key: SigningKey, _ relayState: RelayState?) -> BrowserBinding {
        BrowserBinding(parameter: "SAMLResponse", destination: destination, key: key, relayState: relayState)
    }

    private func document(signatureFor certificate: [UInt8]? = nil) -> String {
        var writer = MarkupWriter()
        writer.element(
            "samlp:LogoutResponse",
            [
                ("xmlns:samlp", "\(Namespaces.protocol)"), ("xmlns:saml", "\(Namespaces.assertion)"), ("ID", id.rawValue),
                ("Version", "2.0"), ("IssueInstant", SamlInstant.format(issuedAt)), ("Destination", destination),
                ("InResponseTo", inResponseTo),
            ]
        ) { response in
            response.element("saml:Issuer", text: issuer)
            if let certificate { response.signatureTemplate(over: id.rawValue, certificate: certificate) }
            response.element("samlp:Status") { $0.element("samlp:StatusCode", [("Value", ResponseStatus.prefix + "Success")]) }
        }
        return writer.text
    }
}
