public import Clocks

/// A request to end a person's session at an MVPD (mvpd §2.7). It is sent by `redirectURL` or `postForm`, always signed.
public struct SamlLogoutRequest: Hashable, Sendable {
    public var id: RequestID
    public var issuedAt: Timestamp
    /// The MVPD's single logout address.
    public var destination: String
    /// As in the request that the session came of.
    public var issuer: String
    /// As the MVPD sent it.
    public var nameID: NameID
    /// Nil: every session of the person.
    public var sessionIndex: String?

    /// - Parameters:
    ///   - id: A fresh one for each request.
    ///   - issuedAt: `IssueInstant`.
    ///   - destination: The MVPD's single logout address.
    ///   - issuer: The issuer of the request that the session came of.
    ///   - nameID: As the MVPD sent it, with its qualifiers.
    ///   - sessionIndex: Nil: every session of the person.
    public init(id: RequestID, issuedAt: Timestamp, destination: String, issuer: String, nameID: NameID, sessionIndex: String?) {
        self.id = id
        self.issuedAt = issuedAt
        self.destination = destination
        self.issuer = issuer
        self.nameID = nameID
        self.sessionIndex = sessionIndex
    }

    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func redirectURL(signedWith key: SamlSigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> String {
        try binding(key, relayState).redirectURL(document())
    }

    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func postForm(signedWith key: SamlSigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> PostForm {
        try binding(key, relayState).postForm(document(signatureFor: key.certificate))
    }

    private func binding(_ key: SamlSigningKey, _ relayState: RelayState?) -> BrowserBinding {
        BrowserBinding(parameter: "SAMLRequest", destination: destination, key: key, relayState: relayState)
    }

    private func document(signatureFor certificate: [UInt8]? = nil) -> String {
        var writer = MarkupWriter()
        writer.element(
            "samlp:LogoutRequest",
            [
                ("xmlns:samlp", "\(Namespaces.protocol)"), ("xmlns:saml", "\(Namespaces.assertion)"), ("ID", id.rawValue),
                ("Version", "2.0"), ("IssueInstant", SamlInstant.format(issuedAt)), ("Destination", destination),
                ("Reason", SamlURI.logoutByUser),
            ]
        ) { request in
            request.element("saml:Issuer", text: issuer)
            if let certificate { request.signatureTemplate(over: id.rawValue, certificate: certificate) }
            request.element(
                "saml:NameID",
                [
                    ("NameQualifier", nameID.nameQualifier), ("SPNameQualifier", nameID.spNameQualifier), ("Format", nameID.format),
                    ("SPProvidedID", nameID.spProvidedID),
                ], text: nameID.value.rawValue)
            if let sessionIndex { request.element("samlp:SessionIndex", text: sessionIndex) }
        }
        return writer.text
    }
}

/// The answer to an MVPD's own logout request (mvpd §2.7), always signed.
public struct SamlLogoutResponse: Hashable, Sendable {
    public var id: RequestID
    public var issuedAt: Timestamp
    /// The MVPD takes answers here.
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
    public func redirectURL(signedWith key: SamlSigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> String {
        try binding(key, relayState).redirectURL(document())
    }

    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func postForm(signedWith key: SamlSigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> PostForm {
        try binding(key, relayState).postForm(document(signatureFor: key.certificate))
    }

    private func binding(_ key: SamlSigningKey, _ relayState: RelayState?) -> BrowserBinding {
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
