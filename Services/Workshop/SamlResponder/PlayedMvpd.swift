internal import CZlib
public import Cryptography
public import Foundation

/// A tool in the role of the MVPD. It answers a sign-in request with a really signed SAML response, without a network and without a browser.
///
/// The stand-in MVPD would spend more processor time on a sign-in than the services that get it: pages, forms, a verified request. Here a sign-in
/// costs one RSA signature. It shares no code with the sandbox, nor with the tests' signer. Three issuers that agree by chance on a wrong reading of
/// the standard are less likely than one. The assertion is written in its exclusive canonical form (exc-c14n), so what is digested is what is sent.
public struct PlayedMvpd: Sendable {
    /// The person who signs in.
    public struct Subscriber: Sendable, Equatable {
        /// The persistent name that the MVPD gives out.
        public let nameID: String
        public let householdID: String
        /// The channels that the subscriber pays for.
        public let channels: [String]

        public init(nameID: String, householdID: String, channels: [String]) {
            self.nameID = nameID
            self.householdID = householdID
            self.channels = channels
        }
    }

    public let entityID: String
    private let key: RSAPrivateKey
    /// An assertion may be presented for this long, as the stand-in MVPD has it.
    private static let validity: TimeInterval = 300

    /// - Parameters:
    ///   - entityID: Under which the service knows the MVPD.
    ///   - key: The key of the certificate that the service has pinned.
    public init(entityID: String, key: RSAPrivateKey) {
        self.entityID = entityID
        self.key = key
    }

    /// - Parameters:
    ///   - request: The request to answer.
    ///   - now: Goes into the response, which is good for 300 s.
    /// - Returns: The response as text.
    /// - Throws: `CryptographyError` when the key cannot sign.
    public func response(to request: AuthnRequestFacts, for subscriber: Subscriber, now: Date) throws(CryptographyError) -> String {
        let names = (response: Self.identifier(), assertion: Self.identifier(), session: Self.identifier())
        let (issued, end) = (Self.text(now), Self.text(now + Self.validity))
        let start =
            #"<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="\#(names.assertion)" IssueInstant="\#(issued)" Version="2.0">"#
        let issuer = "<saml:Issuer>\(Self.escaped(entityID))</saml:Issuer>"
        let rest = subject(subscriber, request, end) + conditions(request, issued, end) + statement(issued, names.session) + attributes(subscriber)
        let canonical = "\(start)\(issuer)\(rest)</saml:Assertion>"
        let assertion = "\(start)\(issuer)\(try signature(over: canonical, identifier: names.assertion))\(rest)</saml:Assertion>"
        return document(request, issued, status: #"<samlp:StatusCode Value="\#(Self.statuses)Success"/>"#, assertion, names.response)
    }

    /// The person did not sign in: status `Responder`, `AuthnFailed` (SAML core §3.2.2.2), without a signature.
    public func refusal(to request: AuthnRequestFacts, now: Date) -> String {
        let status =
            #"<samlp:StatusCode Value="\#(Self.statuses)Responder"><samlp:StatusCode Value="\#(Self.statuses)AuthnFailed"/></samlp:StatusCode>"#
        return document(request, Self.text(now), status: status, "", Self.identifier())
    }

    private static let statuses = "urn:oasis:names:tc:SAML:2.0:status:"

    private func document(_ request: AuthnRequestFacts, _ issued: String, status: String, _ assertion: String, _ identifier: String) -> String {
        """
        <samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" \
        ID="\(identifier)" Version="2.0" IssueInstant="\(issued)" Destination="\(Self.escaped(request.assertionConsumerService))" \
        InResponseTo="\(Self.escaped(request.id))"><saml:Issuer>\(Self.escaped(entityID))</saml:Issuer>\
        <samlp:Status>\(status)</samlp:Status>\(assertion)</samlp:Response>
        """
    }

    private func subject(_ subscriber: Subscriber, _ request: AuthnRequestFacts, _ end: String) -> String {
        """
        <saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">\(Self.escaped(subscriber.nameID))</saml:NameID>\
        <saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData \
        InResponseTo="\(Self.escaped(request.id))" NotOnOrAfter="\(end)" Recipient="\(Self.escaped(request.assertionConsumerService))">\
        </saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>
        """
    }

    private func conditions(_ request: AuthnRequestFacts, _ start: String, _ end: String) -> String {
        """
        <saml:Conditions NotBefore="\(start)" NotOnOrAfter="\(end)"><saml:AudienceRestriction><saml:Audience>\(Self.escaped(request.issuer))\
        </saml:Audience></saml:AudienceRestriction></saml:Conditions>
        """
    }

    private func statement(_ instant: String, _ session: String) -> String {
        """
        <saml:AuthnStatement AuthnInstant="\(instant)" SessionIndex="\(session)"><saml:AuthnContext><saml:AuthnContextClassRef>\
        urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>
        """
    }

    private func attributes(_ subscriber: Subscriber) -> String {
        let all = [("userID", [subscriber.nameID]), ("householdID", [subscriber.householdID]), ("channelID", subscriber.channels)]
        let elements = all.filter { !$0.1.isEmpty }.map { name, values in
            let values = values.map { "<saml:AttributeValue>\(Self.escaped($0))</saml:AttributeValue>" }.joined()
            return #"<saml:Attribute Name="\#(name)" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic">\#(values)</saml:Attribute>"#
        }
        return "<saml:AttributeStatement>\(elements.joined())</saml:AttributeStatement>"
    }

    /// RSA with SHA-256 (XML Signature §4, exc-c14n): the digest of the element without its signature, then the signature of the canonical
    /// `SignedInfo`.
    private func signature(over canonical: String, identifier: String) throws(CryptographyError) -> String {
        let digest = Base64.standard.encode(SHA256.hash(canonical))
        func method(_ name: String, _ algorithm: String) -> String { #"<ds:\#(name) Algorithm="\#(algorithm)"></ds:\#(name)>"# }
        let exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
        let content = """
            \(method("CanonicalizationMethod", exclusive))\(method("SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"))\
            <ds:Reference URI="#\(identifier)"><ds:Transforms>\(method("Transform", "http://www.w3.org/2000/09/xmldsig#enveloped-signature"))\
            \(method("Transform", exclusive))</ds:Transforms>\(method("DigestMethod", "http://www.w3.org/2001/04/xmlenc#sha256"))\
            <ds:DigestValue>\(digest)</ds:DigestValue></ds:Reference></ds:SignedInfo>
            """
        let namespace = #"xmlns:ds="http://www.w3.org/2000/09/xmldsig#""#
        let value = Base64.standard.encode(try key.sign(Array("<ds:SignedInfo \(namespace)>\(content)".utf8)))
        return "<ds:Signature \(namespace)><ds:SignedInfo>\(content)<ds:SignatureValue>\(value)</ds:SignatureValue></ds:Signature>"
    }

    private static func identifier() -> String { "_\(UUID().uuidString)" }

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }

    /// Safe in text and in attributes; for what has no line breaks or tabs, which is so for addresses and identifiers, also canonical.
    private static func escaped(_ text: String) -> String {
        guard text.contains(where: { "&<>\"".contains($0) }) else { return text }
        return text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}

/// The facts of a sign-in request that an MVPD needs to answer it.
///
/// It is read without an XML parser, with any prefixes and quotes. The request comes from the service under test, and a reading error shows as a
/// failed sign-in.
public struct AuthnRequestFacts: Sendable, Equatable {
    public var id: String
    /// The service provider's entity id.
    public var issuer: String
    /// The answer goes here.
    public var assertionConsumerService: String
    private static let largest = 64 * 1024

    /// - Parameter document: The request as XML.
    public init?(document: String) {
        guard let id = Self.attribute("ID", document), let service = Self.attribute("AssertionConsumerServiceURL", document),
            let issuer = document.firstMatch(of: /<(?:[A-Za-z_][\w.\-]*:)?Issuer(?:\s[^>]*)?>\s*([^<]*[^<\s])/)
        else { return nil }
        self.id = id
        self.issuer = Self.unescaped(String(issuer.1))
        assertionConsumerService = service
    }

    /// - Parameter profileRequest: Base64 of the request, as the platform's framework gets it (rest-v1 §3.13).
    public init?(profileRequest: String) {
        guard let octets = Data(base64Encoded: profileRequest.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        self.init(document: String(decoding: octets, as: UTF8.self))
    }

    /// - Parameter redirect: `SAMLRequest` of an address of the Redirect binding, decoded from the query: Base64 of the deflated request.
    public init?(redirect: String) {
        guard let deflated = Data(base64Encoded: redirect) else { return nil }
        let input = [UInt8](deflated)
        var length = 0
        let octets = [UInt8](unsafeUninitializedCapacity: Self.largest) { output, used in
            guard let base = output.baseAddress else { return }
            length = czlib_inflate(input, input.count, base, Self.largest)
            used = max(0, length)
        }
        guard length > 0 else { return nil }
        self.init(document: String(decoding: octets, as: UTF8.self))
    }

    /// The attribute of the first element that has it.
    private static func attribute(_ name: String, _ document: String) -> String? {
        var rest = document[...]
        while let found = rest.range(of: "\(name)=") {
            let before = document[..<found.lowerBound].last
            rest = rest[found.upperBound...]
            guard before?.isWhitespace == true, let quote = rest.first, quote == "\"" || quote == "'" else { continue }
            let value = rest.dropFirst()
            return value.firstIndex(of: quote).map { unescaped(String(value[..<$0])) }
        }
        return nil
    }

    private static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"").replacing("&apos;", with: "'")
            .replacing("&amp;", with: "&")
    }
}
