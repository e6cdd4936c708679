internal import CSandboxXml
internal import Clocks
internal import SandboxKit

/// Takes the service provider's logout messages apart; nothing of one is used before its signature verified.
struct LogoutReader: Sendable {
    /// The kind of a message.
    enum Message {
        case request(LogoutRequest)
        case answer(LogoutAnswer)
    }

    private static let statusPrefix = "urn:oasis:names:tc:SAML:2.0:status:"

    let serviceProvider: ServiceProvider
    /// The address that messages must name as their destination.
    let destination: String

    /// Reads the raw query of the HTTP redirect binding.
    func redirect(query: String, at now: Timestamp) throws(RequestRejection) -> Message {
        let fields = FormFields(encoded: query)
        let (name, deflated) = try message(of: fields)
        try QuerySignature(fields: fields, message: name).verify(with: serviceProvider.signingCertificate)
        let root = try refusing { () throws(XmlRejection) in try XmlElement(parsing: try RawDeflate.inflate(deflated)) }
        guard root.children("Signature", in: XmlNames.signature).isEmpty else {
            throw RequestRejection("xsw.sigposition", "A redirected message is signed in the query, not in the XML.")
        }
        return try read(root, relayState: try fields.single("RelayState"), at: now)
    }

    /// Reads the form of the HTTP POST binding.
    func post(form: String, at now: Timestamp) throws(RequestRejection) -> Message {
        let fields = FormFields(encoded: form)
        let (_, received) = try message(of: fields)
        let root = try refusing { () throws(XmlRejection) in
            try XmlElement(parsing: try XmlSignature.verified(received, with: serviceProvider.signingCertificate))
        }
        return try read(root, relayState: try fields.single("RelayState"), at: now)
    }

    private func message(of fields: FormFields) throws(RequestRejection) -> (name: String, octets: [UInt8]) {
        let sent = ["SAMLRequest", "SAMLResponse"].filter { !fields.raw($0).isEmpty }
        guard sent.count == 1, let text = try fields.single(sent[0]) else {
            throw RequestRejection("bind.params", "The call must carry exactly one SAMLRequest or SAMLResponse.")
        }
        guard let octets = Base64.octets(text) else { throw RequestRejection("bind.base64", "\(sent[0]) is not base64.") }
        return (sent[0], octets)
    }

    private func read(_ root: XmlElement, relayState: String?, at now: Timestamp) throws(RequestRejection) -> Message {
        guard root.namespace == XmlNames.protocol, root.attributes["Version"] == "2.0" else {
            throw RequestRejection("xml.root", "The message is no SAML 2.0 logout message.")
        }
        let (identifier, issuer) = try envelope(root, at: now)
        switch root.name {
        case "LogoutRequest": return .request(try request(root, identifier, issuer, relayState))
        case "LogoutResponse":
            let code = root.only("Status", in: XmlNames.protocol)?.only("StatusCode", in: XmlNames.protocol)?.attributes["Value"] ?? ""
            return .answer(
                LogoutAnswer(
                    inResponseTo: root.attributes["InResponseTo"] ?? "",
                    status: code.hasPrefix(Self.statusPrefix) ? String(code.dropFirst(Self.statusPrefix.count)) : code, relayState: relayState))
        default: throw RequestRejection("xml.root", "The message is no SAML 2.0 logout message.")
        }
    }

    private func request(
        _ root: XmlElement, _ identifier: String, _ issuer: String, _ relayState: String?
    ) throws(RequestRejection) -> LogoutRequest {
        guard let name = root.only("NameID", in: XmlNames.assertion), let text = name.text else {
            throw RequestRejection("subject.format", "The request does not name one person.")
        }
        return LogoutRequest(
            identifier: identifier, issuer: issuer, reason: root.attributes["Reason"], nameID: text, nameIDFormat: name.attributes["Format"],
            nameQualifier: name.attributes["NameQualifier"], spNameQualifier: name.attributes["SPNameQualifier"],
            sessionIndexes: root.children("SessionIndex", in: XmlNames.protocol).compactMap(\.text), relayState: relayState)
    }

    private func envelope(_ root: XmlElement, at now: Timestamp) throws(RequestRejection) -> (identifier: String, issuer: String) {
        guard let identifier = root.attributes["ID"], !identifier.isEmpty else { throw RequestRejection("xml.form", "The message has no ID.") }
        guard let issued = root.attributes["IssueInstant"].flatMap(Instant.parse), issued > now - AuthnRequestReader.tolerance,
            issued < now + AuthnRequestReader.tolerance
        else { throw RequestRejection("req.stale", "The message is not of this time.") }
        let issuer = root.only("Issuer", in: XmlNames.assertion)?.text ?? ""
        guard serviceProvider.isIssuer(issuer) else { throw RequestRejection("issuer", "The issuer “\(issuer)” is not the service provider.") }
        guard root.attributes["Destination"] == destination else {
            throw RequestRejection("req.destination", "The message is for “\(root.attributes["Destination"] ?? "")”; this is \(destination).")
        }
        return (identifier, issuer)
    }

    private func refusing<Value>(_ read: () throws(XmlRejection) -> Value) throws(RequestRejection) -> Value {
        do {
            return try read()
        } catch {
            throw RequestRejection(error.reason, "The message was refused while it was read: \(error.reason).")
        }
    }
}

/// The signature of a redirected message, over the octets as they were received (SAML bindings §3.4.4.1, mvpd §2.7).
struct QuerySignature {
    let fields: FormFields
    /// The parameter with the message.
    var message = "SAMLRequest"

    func verify(with certificate: Certificate) throws(RequestRejection) {
        guard let algorithm = try fields.single("SigAlg"), let text = try fields.single("Signature") else {
            throw RequestRejection("sig.missing", "The query carries no SigAlg and Signature.")
        }
        guard let digest = Self.digest(of: algorithm) else { throw RequestRejection("sig.alg", "The algorithm \(algorithm) is not accepted.") }
        guard let signature = Base64.octets(text) else { throw RequestRejection("bind.base64", "Signature is not base64.") }
        do {
            try certificate.verify(signature, over: Array(signedText.utf8), digest: digest)
        } catch {
            throw RequestRejection("sig.invalid", "The query's signature does not verify with the service provider's certificate.")
        }
    }

    private var signedText: String {
        [message, "RelayState", "SigAlg"].compactMap { name in
            fields.raw(name).first.map { "\(name)=\($0)" }
        }.joined(separator: "&")
    }

    private static func digest(of algorithm: String) -> String? {
        switch algorithm {
        case "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256": "SHA256"
        case "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384": "SHA384"
        case "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": "SHA512"
        default: nil
        }
    }
}

/// The compression of the HTTP redirect binding (SAML bindings §3.4.4.1).
enum RawDeflate {
    /// Most octets that a message may have after inflating.
    static let largestMessage = 64 * 1024

    static func inflate(_ octets: [UInt8]) throws(XmlRejection) -> [UInt8] {
        try XmlRejection.octets { csandbox_inflate(octets, octets.count, largestMessage, $0) }
    }

    static func deflate(_ octets: [UInt8]) throws(XmlRejection) -> [UInt8] {
        try XmlRejection.octets { csandbox_deflate(octets, octets.count, $0) }
    }
}
