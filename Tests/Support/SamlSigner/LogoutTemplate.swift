/// A logout message as a well-behaved MVPD writes it, with every part open to change.
public struct LogoutTemplate: Sendable {
    public static let service = "https://sp.pass.example/sp/saml/LogoutServiceHTTPRedirectResponse"

    public var name: String
    public var id = "_logout-1"
    public var issueInstant = "2031-03-04T10:00:00Z"
    public var destination: String? = Self.service
    public var inResponseTo: String?
    public var issuer: String? = ResponseTemplate.identityProvider
    public var notOnOrAfter: String?
    public var signature: SignatureTemplate?
    /// The content after issuer and signature.
    public var content: String

    private static let success = "urn:oasis:names:tc:SAML:2.0:status:Success"

    /// An answer to a request.
    public static func response(to request: String, status: [String] = []) -> LogoutTemplate {
        let codes = (status.isEmpty ? [success] : status).reversed().reduce("") { "<samlp:StatusCode Value=\"\($1)\">\($0)</samlp:StatusCode>" }
        return LogoutTemplate(name: "LogoutResponse", inResponseTo: request, content: "<samlp:Status>\(codes)</samlp:Status>")
    }

    /// A request to end sessions of a person.
    public static func request(name nameID: String, sessionIndexes: [String] = []) -> LogoutTemplate {
        let indexes = sessionIndexes.map { "<samlp:SessionIndex>\($0)</samlp:SessionIndex>" }.joined()
        return LogoutTemplate(name: "LogoutRequest", content: "<saml:NameID>\(nameID)</saml:NameID>\(indexes)")
    }

    /// The message; its signature is empty.
    public var xml: String {
        """
        <samlp:\(name) xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="\(id)" \
        Version="2.0" IssueInstant="\(issueInstant)"\(optional("Destination", destination))\(optional("InResponseTo", inResponseTo))\
        \(optional("NotOnOrAfter", notOnOrAfter))>\(issuer.map { "<saml:Issuer>\($0)</saml:Issuer>" } ?? "")\
        \(signature?.xml(over: id) ?? "")\(content)</samlp:\(name)>
        """
    }

    /// The message for the POST binding, before base64.
    public func posted(by identity: SignerIdentity) throws -> String {
        var template = self
        if template.signature == nil { template.signature = SignatureTemplate() }
        return try Signer.sign(template.xml, signatureOf: name, with: identity)
    }

    /// The query of the Redirect binding.
    public func redirected(
        by identity: SignerIdentity, relayState: String? = nil, algorithm: String = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
        digest: String = "sha256"
    ) throws -> String {
        let parameter = name == "LogoutRequest" ? "SAMLRequest" : "SAMLResponse"
        var query = "\(parameter)=\(Self.encoded(try Inflater.deflated(xml)))"
        if let relayState { query += "&RelayState=\(Self.encoded(relayState))" }
        query += "&SigAlg=\(Self.encoded(algorithm))"
        return query + "&Signature=\(Self.encoded(try Signer.signature(over: query, with: identity, digest: digest)))"
    }

    /// Percent-encoding in lower case, as some MVPDs have it.
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { output, octet in
            let isPlain =
                (0x30...0x39).contains(octet) || (0x41...0x5a).contains(octet) || (0x61...0x7a).contains(octet) || "-._~".utf8.contains(octet)
            output += isPlain ? String(UnicodeScalar(octet)) : "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
        }
    }

    private func optional(_ name: String, _ value: String?) -> String { value.map { " \(name)=\"\($0)\"" } ?? "" }
}
