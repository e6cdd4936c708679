internal import SandboxKit
internal import Clocks

/// A request that passed the checks of ``AuthnRequestReader``.
struct AuthnRequest: Sendable, Codable, Equatable {
    var identifier: String
    /// The issuer as sent, with or without the requestor's suffix.
    var issuer: String
    /// The requestor of the sign-in: the issuer's suffix, else the scoping's requester id.
    let requestor: String?
    /// The proxied providers that the scoping names.
    let providers: [String]
    /// The id of the proxied provider that is asked: who issues the answer then (mvpd §2.3 step 25).
    var proxiedProvider: String?
    let isPassive: Bool
    let forceAuthn: Bool
    let nameIDFormat: String?
    let spNameQualifier: String?
    let relayState: String?
    /// The attributes that an AttributeQuery asks for; nil for an AuthnRequest.
    var queriedAttributes: [String]?
}

/// Takes the service provider's requests apart; nothing of a request is used before its signature verified.
struct AuthnRequestReader: Sendable {
    /// How old or how far ahead a request may be.
    static let tolerance = Duration.seconds(300)
    /// How old a request may be that a platform passes on.
    static let tokenTolerance = Duration.seconds(600)
    /// The limit of SAML bindings §3.4.3 for a relay state.
    static let relayStateLimit = 80

    let serviceProvider: ServiceProvider
    /// The address that requests must name as their destination.
    let destination: String
    let validateRequests: Bool

    /// Reads the raw query of the HTTP redirect binding (SAML bindings §3.4.4.1).
    func redirect(query: String, at now: Timestamp) throws(RequestRejection) -> AuthnRequest {
        let fields = FormFields(encoded: query)
        let relayState = try relayState(of: fields)
        let deflated = try message(of: fields)
        if validateRequests { try QuerySignature(fields: fields).verify(with: serviceProvider.signingCertificate) }
        let octets = try refusing { () throws(XmlRejection) in try RawDeflate.inflate(deflated) }
        let root = try refusing { () throws(XmlRejection) in try XmlElement(parsing: octets) }
        guard root.children("Signature", in: XmlNames.signature).isEmpty else {
            throw RequestRejection("xsw.sigposition", "A redirected request is signed in the query, not in the XML.")
        }
        return try request(root, relayState: relayState, at: now)
    }

    /// Reads the form of the HTTP POST binding (SAML bindings §3.5.4).
    func post(form: String, at now: Timestamp) throws(RequestRejection) -> AuthnRequest {
        let fields = FormFields(encoded: form)
        let relayState = try relayState(of: fields)
        var octets = try message(of: fields)
        if validateRequests {
            let received = octets
            octets = try refusing { () throws(XmlRejection) in try XmlSignature.verified(received, with: serviceProvider.signingCertificate) }
        }
        let trusted = octets
        return try request(try refusing { () throws(XmlRejection) in try XmlElement(parsing: trusted) }, relayState: relayState, at: now)
    }

    /// Reads a platform's verification token: the request of the POST binding, always signed, or an AttributeQuery (SAML core §3.3.2.3).
    /// - Parameter token: Base64.
    func token(_ token: String, at now: Timestamp) throws(RequestRejection) -> AuthnRequest {
        guard let received = Base64.octets(token) else { throw RequestRejection("bind.base64", "The verification token is not base64.") }
        let trusted = try refusing { () throws(XmlRejection) in try XmlSignature.verified(received, with: serviceProvider.signingCertificate) }
        let root = try refusing { () throws(XmlRejection) in try XmlElement(parsing: trusted) }
        return try request(root, relayState: nil, at: now, tolerance: Self.tokenTolerance, queriedAttributes: try queriedAttributes(of: root))
    }

    private func queriedAttributes(of root: XmlElement) throws(RequestRejection) -> [String]? {
        guard root.name == "AttributeQuery" else { return nil }
        // The platform identifies the person; the service provider cannot know who it is.
        guard let subject = root.only("Subject", in: XmlNames.assertion), subject.children("NameID", in: XmlNames.assertion).isEmpty else {
            throw RequestRejection("xml.form", "The query must have one Subject, which names nobody.")
        }
        var names: [String] = []
        for attribute in root.children("Attribute", in: XmlNames.assertion) {
            guard let name = attribute.attributes["Name"] else {
                throw RequestRejection("xml.form", "The query asks for an attribute without a name.")
            }
            names.append(name)
        }
        return names
    }

    private func message(of fields: FormFields) throws(RequestRejection) -> [UInt8] {
        guard fields.raw("SAMLResponse").isEmpty, let text = try fields.single("SAMLRequest") else {
            throw RequestRejection("bind.params", "The call must carry exactly one SAMLRequest and no SAMLResponse.")
        }
        guard let octets = Base64.octets(text) else { throw RequestRejection("bind.base64", "SAMLRequest is not base64.") }
        return octets
    }

    private func relayState(of fields: FormFields) throws(RequestRejection) -> String? {
        let text = try fields.single("RelayState")
        if let text, text.utf8.count > Self.relayStateLimit {
            throw RequestRejection("bind.params", "RelayState is longer than \(Self.relayStateLimit) octets.")
        }
        return text
    }

    private func request(
        _ root: XmlElement, relayState: String?, at now: Timestamp, tolerance: Duration = Self.tolerance, queriedAttributes: [String]? = nil
    ) throws(RequestRejection) -> AuthnRequest {
        let identifier = try envelope(root, at: now, tolerance, queriedAttributes == nil ? "AuthnRequest" : "AttributeQuery")
        let issuer = root.only("Issuer", in: XmlNames.assertion)?.text ?? ""
        guard serviceProvider.isIssuer(issuer) else {
            throw RequestRejection("issuer", "The issuer “\(issuer)” is not \(serviceProvider.entityID), with or without /on-behalf-of/{requestor}.")
        }
        try addresses(root)
        let policy = root.only("NameIDPolicy", in: XmlNames.protocol)
        let scoping = root.only("Scoping", in: XmlNames.protocol)
        let list = scoping?.only("IDPList", in: XmlNames.protocol)?.children("IDPEntry", in: XmlNames.protocol) ?? []
        return AuthnRequest(
            identifier: identifier, issuer: issuer,
            requestor: serviceProvider.requestor(inIssuer: issuer) ?? scoping?.children("RequesterID", in: XmlNames.protocol).first?.text,
            providers: list.compactMap { $0.attributes["Name"] ?? $0.attributes["ProviderID"] },
            proxiedProvider: list.first?.attributes["ProviderID"],
            isPassive: try flag("IsPassive", of: root), forceAuthn: try flag("ForceAuthn", of: root),
            nameIDFormat: policy?.attributes["Format"], spNameQualifier: policy?.attributes["SPNameQualifier"], relayState: relayState,
            queriedAttributes: queriedAttributes
        )
    }

    private func envelope(_ root: XmlElement, at now: Timestamp, _ tolerance: Duration, _ name: String) throws(RequestRejection) -> String {
        guard root.name == name, root.namespace == XmlNames.protocol, root.attributes["Version"] == "2.0" else {
            throw RequestRejection("xml.root", "The message is not a SAML 2.0 AuthnRequest.")
        }
        guard let identifier = root.attributes["ID"], !identifier.isEmpty else { throw RequestRejection("xml.form", "The request has no ID.") }
        guard let issued = root.attributes["IssueInstant"].flatMap(Instant.parse) else {
            throw RequestRejection("xml.form", "The request has no IssueInstant in UTC.")
        }
        guard issued > now - tolerance, issued < now + Self.tolerance else {
            throw RequestRejection("req.stale", "The request is of \(Instant.text(issued)); here it is \(Instant.text(now)).")
        }
        return identifier
    }

    private func addresses(_ root: XmlElement) throws(RequestRejection) {
        // A signed message must name its destination (SAML bindings §3.4.5.2, §3.5.5.2).
        guard root.attributes["Destination"] == destination || (!validateRequests && root.attributes["Destination"] == nil) else {
            throw RequestRejection("req.destination", "The request is for “\(root.attributes["Destination"] ?? "")”; this is \(destination).")
        }
        guard root.attributes["ProtocolBinding"] ?? XmlNames.postBinding == XmlNames.postBinding else {
            throw RequestRejection("req.binding", "Answers go by HTTP-POST only.")
        }
        guard root.attributes["AssertionConsumerServiceURL"] ?? serviceProvider.acsURL == serviceProvider.acsURL else {
            throw RequestRejection("req.acs", "The answer's address is not the registered one, \(serviceProvider.acsURL).")
        }
    }

    private func flag(_ name: String, of root: XmlElement) throws(RequestRejection) -> Bool {
        switch root.attributes[name] {
        case nil, "false", "0": false
        case "true", "1": true
        default: throw RequestRejection("xml.form", "\(name) is not a boolean.")
        }
    }

    private func refusing<Value>(_ read: () throws(XmlRejection) -> Value) throws(RequestRejection) -> Value {
        do {
            return try read()
        } catch {
            throw RequestRejection(error.reason, "The message was refused while it was read: \(error.reason).")
        }
    }
}
