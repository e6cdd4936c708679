internal import CXmlSec
public import Clocks
internal import Cryptography
internal import TextEncodings

/// A request for a sign-in (mvpd §2.2). It is sent by `redirectURL` or `postForm`, always signed.
public struct AuthnRequest: Hashable, Sendable {
    /// The MVPD that a proxy is to use.
    public struct ProxiedProvider: Hashable, Sendable {
        /// `providerId`, else the MVPD's `id`.
        public var providerID: String
        /// For the proxy's screens; empty: not sent.
        public var name: String

        public init(providerID: String, name: String) {
            self.providerID = providerID
            self.name = name
        }
    }

    public var id: RequestID
    public var issuedAt: Timestamp
    /// The MVPD's single sign-on address.
    public var destination: String
    public var assertionConsumerServiceURL: String
    /// The base `spEntityId`.
    public var serviceProviderEntityID: String
    /// The requestor, or the `partnerId` that replaces it.
    public var onBehalfOf: String
    public var scopingMode: ScopingMode = .issuerSuffix
    public var forceAuthn = false
    /// A passive request asks only whether the person is signed in already, and names the service provider in `RespondTo`.
    public var isPassive = false
    /// URI; empty: persistent.
    public var nameIDFormat = ""
    /// Empty: not sent.
    public var spNameQualifier = ""
    public var allowCreate = true
    /// Set for an MVPD behind a proxy only.
    public var proxiedProvider: ProxiedProvider?

    /// - Parameters:
    ///   - id: A fresh one for each request.
    ///   - issuedAt: `IssueInstant`.
    ///   - destination: The MVPD's single sign-on address.
    ///   - assertionConsumerServiceURL: Where the response is to be posted.
    ///   - serviceProviderEntityID: The base `spEntityId`, without the requestor.
    ///   - onBehalfOf: The requestor's id, or its `partnerId`.
    public init(
        id: RequestID, issuedAt: Timestamp, destination: String, assertionConsumerServiceURL: String, serviceProviderEntityID: String,
        onBehalfOf: String
    ) {
        self.id = id
        self.issuedAt = issuedAt
        self.destination = destination
        self.assertionConsumerServiceURL = assertionConsumerServiceURL
        self.serviceProviderEntityID = serviceProviderEntityID
        self.onBehalfOf = onBehalfOf
    }

    /// The issuer as it is sent; an accepted audience of the answer.
    public var issuer: String {
        scopingMode.usesSuffix ? ServiceProviderMetadata.entityID(serviceProviderEntityID, requestor: onBehalfOf) : serviceProviderEntityID
    }

    /// The NameID format as it is sent.
    public var requestedNameIDFormat: String { nameIDFormat.isEmpty ? SamlURI.persistentFormat : nameIDFormat }
}

extension AuthnRequest {
    /// The address for the Redirect binding: the request deflated, and the query signed over its exact text (SAML bindings §3.4.4.1).
    /// - Parameter relayState: The handle; nil: the parameter is left out, also of what is signed.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func redirectURL(signedWith key: SamlSigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> String {
        try binding(key, relayState).redirectURL(document())
    }

    /// The form fields for the POST binding: the request with an enveloped signature, base64 (SAML bindings §3.5.4).
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func postForm(signedWith key: SamlSigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> PostForm {
        try binding(key, relayState).postForm(document(signatureFor: key.certificate))
    }

    /// The request with an enveloped signature, base64: what a form or a platform's framework carries.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func signedDocument(signedWith key: SamlSigningKey) throws(SamlConfigurationError) -> String {
        try binding(key, nil).signed(document(signatureFor: key.certificate))
    }

    private func binding(_ key: SamlSigningKey, _ relayState: RelayState?) -> BrowserBinding {
        BrowserBinding(parameter: "SAMLRequest", destination: destination, key: key, relayState: relayState)
    }
}

extension AuthnRequest {
    /// The XML of the request, with an empty signature after the issuer when a certificate is given.
    func document(signatureFor certificate: [UInt8]? = nil) -> String {
        var writer = MarkupWriter()
        writer.element(
            "samlp:AuthnRequest",
            [
                ("xmlns:samlp", "\(Namespaces.protocol)"), ("xmlns:saml", "\(Namespaces.assertion)"), ("ID", id.rawValue),
                ("Version", "2.0"), ("IssueInstant", SamlInstant.format(issuedAt)), ("Destination", destination),
                ("ForceAuthn", String(forceAuthn)), ("IsPassive", String(isPassive)), ("ProtocolBinding", SamlURI.postBinding),
                ("AssertionConsumerServiceURL", assertionConsumerServiceURL),
            ]
        ) { request in
            request.element("saml:Issuer", text: issuer)
            if let certificate { request.signatureTemplate(over: id.rawValue, certificate: certificate) }
            writeExtensions(to: &request)
            request.element(
                "samlp:NameIDPolicy",
                [
                    ("Format", requestedNameIDFormat), ("SPNameQualifier", spNameQualifier.isEmpty ? nil : spNameQualifier),
                    ("AllowCreate", String(allowCreate)),
                ])
            writeScoping(to: &request)
        }
        return writer.text
    }

    private func writeExtensions(to request: inout MarkupWriter) {
        guard isPassive else { return }
        request.element("samlp:Extensions") { extensions in
            extensions.element("thrpty:RespondTo", [("xmlns:thrpty", "\(Namespaces.thirdParty)")], text: serviceProviderEntityID)
        }
    }

    private func writeScoping(to request: inout MarkupWriter) {
        guard scopingMode.usesRequesterID || proxiedProvider != nil else { return }
        request.element("samlp:Scoping") { scoping in
            if let proxiedProvider {
                scoping.element("samlp:IDPList") { list in
                    let name = proxiedProvider.name.isEmpty ? nil : proxiedProvider.name
                    list.element("samlp:IDPEntry", [("ProviderID", proxiedProvider.providerID), ("Name", name)])
                }
            }
            if scopingMode.usesRequesterID { scoping.element("samlp:RequesterID", text: onBehalfOf) }
        }
    }
}

/// A message of ours travels by the browser in this way (SAML bindings §3.4 and §3.5).
struct BrowserBinding {
    /// `SAMLRequest` or `SAMLResponse`.
    let parameter: String
    let destination: String
    let key: SamlSigningKey
    /// Nil: the parameter is left out, also of what is signed.
    let relayState: RelayState?

    /// The address for the Redirect binding: the message deflated, and the query signed over its exact text (SAML bindings §3.4.4.1).
    /// - Parameter document: The XML, without a signature.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    func redirectURL(_ document: String) throws(SamlConfigurationError) -> String {
        var query = parameter + "=" + PercentEncoding.encode(Base64.standard.encode(try Self.deflated(document)))
        if let relayState { query += "&RelayState=" + PercentEncoding.encode(relayState.rawValue) }
        query += "&SigAlg=" + PercentEncoding.encode(SignatureAlgorithm.rsaSHA256.rawValue)
        query += "&Signature=" + PercentEncoding.encode(Base64.standard.encode(try key.signature(of: query)))
        return destination + (destination.contains("?") ? "&" : "?") + query
    }

    /// The form fields for the POST binding.
    /// - Parameter document: The XML with an empty enveloped signature.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    func postForm(_ document: String) throws(SamlConfigurationError) -> PostForm {
        PostForm(
            action: destination,
            fields: [(parameter, try signed(document))] + (relayState.map { [("RelayState", $0.rawValue)] } ?? []))
    }

    /// The signed document, base64.
    func signed(_ document: String) throws(SamlConfigurationError) -> String { Base64.standard.encode(Array(try key.sign(document).utf8)) }

    private static func deflated(_ text: String) throws(SamlConfigurationError) -> [UInt8] {
        var length = 0
        let octets = Array(text.utf8)
        guard let deflated = cxs_deflate(octets, octets.count, &length) else {
            throw SamlConfigurationError("There is no memory to deflate a message.")
        }
        defer { cxs_free(deflated) }
        return Array(UnsafeBufferPointer(start: deflated, count: length))
    }
}

/// A query for attributes of its bearer (SAML core §3.3.2.3): an alternative to an `AuthnRequest` for a platform's framework (mvpd §2.8).
///
/// When the query is made, it is not known who will sign in, and the framework identifies the person to the MVPD itself. So the subject has no
/// name: it is the bearer of the query.
public struct AttributeQuery: Hashable, Sendable {
    public var id: RequestID
    public var issuedAt: Timestamp
    /// The MVPD's single sign-on address.
    public var destination: String
    /// As an `AuthnRequest` would name it; an accepted audience of the answer.
    public var issuer: String
    /// `Name` of each attribute that is asked for; empty: all.
    public var attributeNames: [String]

    /// - Parameters:
    ///   - id: A fresh one for each query.
    ///   - issuedAt: `IssueInstant`.
    ///   - destination: The MVPD's single sign-on address.
    ///   - issuer: The issuer of an `AuthnRequest` for the same requestor.
    ///   - attributeNames: Empty: all.
    public init(id: RequestID, issuedAt: Timestamp, destination: String, issuer: String, attributeNames: [String]) {
        self.id = id
        self.issuedAt = issuedAt
        self.destination = destination
        self.issuer = issuer
        self.attributeNames = attributeNames
    }

    /// The query with an enveloped signature, base64: what a platform's framework carries.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func signedDocument(signedWith key: SamlSigningKey) throws(SamlConfigurationError) -> String {
        Base64.standard.encode(Array(try key.sign(document(signatureFor: key.certificate)).utf8))
    }

    private func document(signatureFor certificate: [UInt8]) -> String {
        var writer = MarkupWriter()
        writer.element(
            "samlp:AttributeQuery",
            [
                ("xmlns:samlp", "\(Namespaces.protocol)"), ("xmlns:saml", "\(Namespaces.assertion)"), ("ID", id.rawValue),
                ("Version", "2.0"), ("IssueInstant", SamlInstant.format(issuedAt)), ("Destination", destination),
            ]
        ) { query in
            query.element("saml:Issuer", text: issuer)
            query.signatureTemplate(over: id.rawValue, certificate: certificate)
            query.element("saml:Subject") { $0.element("saml:SubjectConfirmation", [("Method", SamlURI.bearer)]) }
            for name in attributeNames { query.element("saml:Attribute", [("Name", name)]) }
        }
        return writer.text
    }
}
