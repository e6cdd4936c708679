import Clocks
import Foundation

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// A request as the service provider writes it; each part can be spoiled.
struct AuthnRequestText {
    var identifier = "_request-1"
    var mvpd = "NorthCable"
    var issuer = Fixture.entityID + "/on-behalf-of/ACME1"
    var destination: String?
    var acsURL = Fixture.acsURL
    var attributes = ""
    var format = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    var scoping = ""
    var issuedAt: Timestamp
    var relayState: String? = "handle+1/=&"
    var key = "sp-signing"
    /// Set: the text is an AttributeQuery for them.
    var queriedAttributes: [String]?
    /// The part before the confirmation of a query.
    var subject = ""

    var xml: String { xml(signature: "") }

    /// The query of the redirect binding, signed by the OpenSSL program.
    func query(algorithm: String = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256") throws -> String {
        let message = Base64.text(try RawDeflate.deflate(Array(xml.utf8)))
        let pairs = [("SAMLRequest", message), ("RelayState", relayState), ("SigAlg", algorithm)]
        let text = pairs.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }.joined(separator: "&")
        let signature = try Tool.run("openssl", ["dgst", "-sha256", "-sign", Keys.shared.path("\(key).key")], input: Data(text.utf8)).output
        return "\(text)&Signature=\(Self.encoded(signature.base64EncodedString()))"
    }

    /// The form of the POST binding, signed by the xmlsec1 program.
    func form() throws -> String {
        let signed = try Tool.run(
            "xmlsec1",
            [
                "--sign", "--privkey-pem", Keys.shared.path("\(key).key"), "--id-attr:ID",
                "urn:oasis:names:tc:SAML:2.0:protocol:" + (queriedAttributes == nil ? "AuthnRequest" : "AttributeQuery"),
            ], on: xml(signature: signatureTemplate)
        )
        return form(String(decoding: signed.output, as: UTF8.self))
    }

    func form(_ message: String) -> String {
        let relay = relayState.map { "&RelayState=\(Self.encoded($0))" } ?? ""
        return "SAMLRequest=\(Self.encoded(Data(message.utf8).base64EncodedString()))\(relay)"
    }

    static func encoded(_ text: String) -> String {
        text.utf8.map { octet in
            let isPlain =
                Character(UnicodeScalar(octet)).isASCII && (Character(UnicodeScalar(octet)).isLetter || Character(UnicodeScalar(octet)).isNumber)
            return isPlain ? String(UnicodeScalar(octet)) : "%" + Hexadecimal.text([octet]).uppercased()
        }.joined()
    }

    private func xml(signature: String) -> String {
        if let queriedAttributes { return query(signature, queriedAttributes) }
        return """
            <samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" \
            ID="\(identifier)" Version="2.0" IssueInstant="\(Instant.text(issuedAt))" \
            Destination="\(destination ?? "\(Fixture.publicURL)/saml/\(mvpd)/sso")" \(attributes) \
            ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" AssertionConsumerServiceURL="\(acsURL)">\
            <saml:Issuer>\(issuer)</saml:Issuer>\(signature)\
            <samlp:NameIDPolicy AllowCreate="true" SPNameQualifier="\(Fixture.entityID)" Format="\(format)"/>\(scoping)</samlp:AuthnRequest>
            """
    }

    private func query(_ signature: String, _ names: [String]) -> String {
        """
        <samlp:AttributeQuery xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" \
        ID="\(identifier)" Version="2.0" IssueInstant="\(Instant.text(issuedAt))" \
        Destination="\(destination ?? "\(Fixture.publicURL)/saml/\(mvpd)/sso")"><saml:Issuer>\(issuer)</saml:Issuer>\(signature)\
        <saml:Subject>\(subject)<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"/></saml:Subject>\
        \(names.map { #"<saml:Attribute Name="\#($0)"/>"# }.joined())</samlp:AttributeQuery>
        """
    }

    private var signatureTemplate: String {
        """
        <ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>\
        <ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>\
        <ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>\
        <ds:Reference URI="#\(identifier)"><ds:Transforms>\
        <ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>\
        <ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>\
        <ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue/></ds:Reference></ds:SignedInfo>\
        <ds:SignatureValue/></ds:Signature>
        """
    }
}
