internal import Foundation

/// Signs and verifies with the `xmlsec1` program, so that a fault of the service provider's own code cannot hide itself.
public enum Signer {
    private static let identifiers = [
        "--id-attr:ID", "urn:oasis:names:tc:SAML:2.0:protocol:Response", "--id-attr:ID", "urn:oasis:names:tc:SAML:2.0:assertion:Assertion",
        "--id-attr:ID", "urn:oasis:names:tc:SAML:2.0:protocol:AuthnRequest", "--id-attr:ID",
        "urn:oasis:names:tc:SAML:2.0:protocol:AttributeQuery", "--id-attr:ID",
        "urn:oasis:names:tc:SAML:2.0:metadata:EntityDescriptor", "--id-attr:ID", "urn:oasis:names:tc:SAML:2.0:protocol:LogoutRequest",
        "--id-attr:ID", "urn:oasis:names:tc:SAML:2.0:protocol:LogoutResponse",
        "--id-attr:ID", "urn:oasis:names:tc:xacml:2.0:profile:saml2.0:v2:schema:protocol:XACMLAuthzDecisionQuery",
    ]

    /// Fills the first empty signature below the element of that local name.
    public static func sign(_ xml: String, signatureOf parent: String, with identity: SignerIdentity) throws -> String {
        let path = "//*[local-name()='\(parent)']/*[local-name()='Signature']"
        return try run(xml, keyOption: ["--privkey-pem"], key: identity.privateKeyPEM, ["--sign", "--node-xpath", path])
    }

    /// Fills it with a secret key, for HMAC.
    public static func sign(_ xml: String, signatureOf parent: String, withSecret secret: [UInt8]) throws -> String {
        let path = "//*[local-name()='\(parent)']/*[local-name()='Signature']"
        let key = String(decoding: secret, as: Unicode.ASCII.self)
        return try run(xml, keyOption: ["--hmackey"], key: key, ["--sign", "--node-xpath", path])
    }

    /// True when the document's first signature verifies with the certificate.
    public static func verifies(_ xml: String, with certificatePEM: String) throws -> Bool {
        let scratch = try Scratch()
        let document = try scratch.write(xml, as: "document")
        let certificate = try scratch.write(certificatePEM, as: "certificate")
        return (try? Tool.run("xmlsec1", ["--verify"] + identifiers + ["--pubkey-cert-pem", certificate, document])) != nil
    }

    /// True when `signature` is RSA-SHA256 over the text.
    public static func verifies(_ signature: [UInt8], over text: String, with certificatePEM: String) throws -> Bool {
        let scratch = try Scratch()
        let certificate = try scratch.write(certificatePEM, as: "certificate")
        let key = try scratch.write(try Tool.run("openssl", ["x509", "-in", certificate, "-pubkey", "-noout"]), as: "key")
        let arguments = [
            "dgst", "-sha256", "-verify", key, "-signature", try scratch.write(Data(signature), as: "signature"), try scratch.write(text, as: "text"),
        ]
        return (try? Tool.run("openssl", arguments)) != nil
    }

    /// A signature over the text, base64.
    /// - Parameter digest: As `openssl dgst` calls it.
    public static func signature(over text: String, with identity: SignerIdentity, digest: String = "sha256") throws -> String {
        let scratch = try Scratch()
        let arguments = ["dgst", "-\(digest)", "-sign", try scratch.write(identity.privateKeyPEM, as: "key"), try scratch.write(text, as: "text")]
        return try Tool.run("openssl", arguments).base64EncodedString()
    }

    private static func run(_ xml: String, keyOption: [String], key: String, _ arguments: [String]) throws -> String {
        let scratch = try Scratch()
        let document = try scratch.write(xml, as: "document")
        let keyPath = try scratch.write(key, as: "key")
        try Tool.run(
            "xmlsec1", [arguments[0]] + identifiers + arguments.dropFirst() + keyOption + [keyPath, "--output", scratch.path("signed"), document])
        return withoutDeclaration(String(decoding: try scratch.read("signed"), as: UTF8.self))
    }

    static func withoutDeclaration(_ xml: String) -> String {
        var text = xml
        if text.hasPrefix("<?xml"), let end = text.range(of: "?>") { text.removeSubrange(..<end.upperBound) }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
