import Clocks
import Foundation
import SamlProfile
import SamlSigner
import Testing

/// Signatures with a form or a reference that must be refused.
struct SignatureTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    private func signature(_ change: (inout SignatureTemplate) -> Void) throws -> String {
        try world.assertion { assertion in
            var signature = SignatureTemplate()
            change(&signature)
            assertion.signature = signature
        }
    }

    /// The message with a signature that only looks filled; for what is refused before anything is computed.
    private func unsigned(_ change: (inout SignatureTemplate) -> Void) -> String {
        var template = ResponseTemplate()
        var signature = SignatureTemplate()
        change(&signature)
        template.assertion?.signature = signature
        return template.xml
    }

    @Test("mvpd #29: a removed signature")
    func refusesMissingSignature() throws {
        let xml = try world.response()
        #expect(try world.outcome(try Markup(xml).removing(try Markup(xml).element("ds:Signature")).text) == "sig.missing")
    }

    @Test("mvpd #30: an empty signature value")
    func refusesEmptySignatureValue() throws {
        let xml = try world.response()
        let value = try Markup(xml).element("ds:SignatureValue")
        #expect(try world.outcome(try Markup(xml).replacing(value, with: "<ds:SignatureValue/>").text) == "sig.invalid")
    }

    @Test(
        "mvpd #31, #32, #33, #34, #35: anything but one reference to the parent by its ID",
        arguments: [
            [], ["#_assertion-1", "#_assertion-1"], ["#_assertion-1", "#_response-1"], [""], ["#_response-1"], ["#"], ["_assertion-1"],
            ["#xpointer(id('_assertion-1'))"], ["#xpointer(/)"], ["#_assertion-1 "], ["# _assertion-1"],
        ])
    func refusesOtherReferences(uris: [String]) throws {
        #expect(try world.outcome(unsigned { $0.uris = uris }) == "sig.reference")
    }

    @Test("mvpd #32: two references, properly signed")
    func refusesTwoSignedReferences() throws {
        #expect(try world.outcome(try signature { $0.uris = ["#_assertion-1", "#_assertion-1"] }) == "sig.reference")
    }

    @Test("mvpd #33: an absent URI")
    func refusesAbsentURI() throws {
        let xml = unsigned { _ in }.replacingFirst(" URI=\"#_assertion-1\"", with: "")
        #expect(try world.outcome(xml) == "sig.reference")
    }

    @Test("mvpd #36: a reference to the network or to a file, which is not fetched")
    func refusesExternalReferences() async throws {
        let listener = try Listener()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("saml-reference-\(UUID().uuidString)")
        try Data("<x/>".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for uri in ["http://127.0.0.1:\(listener.port)/x", file.absoluteString, file.path] {
            #expect(try world.outcome(unsigned { $0.uris = [uri] }) == "sig.reference")
        }
        #expect(try !listener.wasContacted())
    }

    @Test("mvpd #39: an attacker's certificate in KeyInfo, with the same subject name")
    func ignoresKeyInfo() throws {
        var template = ResponseTemplate()
        let certificate = Data(world.stranger.certificateDER).base64EncodedString()
        template.assertion?.signature?.tail =
            "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>\(certificate)</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
        #expect(try world.outcome(try template.signed(by: world.stranger)) == "sig.invalid")
        #expect(try world.outcome(try template.signed(by: world.identityProvider)) == "OK")
    }

    @Test("mvpd #40: the signature of another MVPD")
    func refusesForeignSignature() throws {
        #expect(try world.outcome(try ResponseTemplate().signed(by: world.stranger)) == "sig.invalid")
    }

    @Test("mvpd #41: an HMAC keyed with the public certificate")
    func refusesHMAC() throws {
        var template = ResponseTemplate()
        template.assertion?.signature?.method = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"
        let xml = try Signer.sign(template.xml, signatureOf: "Assertion", withSecret: Array(world.identityProvider.certificatePEM.utf8))
        #expect(try world.outcome(xml) == "sig.alg")
    }

    @Test(
        "mvpd #42, #43: signature methods that are unknown or never allowed",
        arguments: [
            "", "none", "http://www.w3.org/2001/04/xmldsig-more#rsa-md5", "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
            "http://www.w3.org/2000/09/xmldsig#dsa-sha1", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha224",
            "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256 ",
        ])
    func refusesOtherMethods(method: String) throws {
        let lenient = try world.expected { $0.legacySHA1Until = World.now + .seconds(1) }
        #expect(try world.outcome(unsigned { $0.method = method }, lenient) == "sig.alg")
    }

    @Test(
        "mvpd #43: SHA-1 in signature or digest is accepted only before its date",
        arguments: [
            ("http://www.w3.org/2000/09/xmldsig#rsa-sha1", "http://www.w3.org/2000/09/xmldsig#sha1"),
            ("http://www.w3.org/2000/09/xmldsig#rsa-sha1", "http://www.w3.org/2001/04/xmlenc#sha256"),
            ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", "http://www.w3.org/2000/09/xmldsig#sha1"),
        ])
    func acceptsSHA1BeforeItsDate(method: String, digest: String) throws {
        let xml = try signature {
            $0.method = method
            $0.digest = digest
        }
        #expect(try world.outcome(xml) == "sig.alg")
        #expect(try world.outcome(xml, try world.expected { $0.legacySHA1Until = World.now }) == "sig.alg")
        #expect(try world.outcome(xml, try world.expected { $0.legacySHA1Until = World.now + .milliseconds(1) }) == "OK")
    }

    @Test("mvpd #43: MD5 as digest is never accepted")
    func refusesMD5() throws {
        let xml = unsigned { $0.digest = "http://www.w3.org/2001/04/xmldsig-more#md5" }
        #expect(try world.outcome(xml, try world.expected { $0.legacySHA1Until = World.now + .seconds(1) }) == "sig.alg")
    }

    @Test(
        "mvpd #44, #45, #46, #47: any transform but the two",
        arguments: [
            SignatureTemplate.enveloped,
            "<ds:Transform Algorithm=\"\(SignatureTemplate.exclusiveCanonicalization)\"/>",
            "<ds:Transform Algorithm=\"\(SignatureTemplate.exclusiveCanonicalization)\"/>" + SignatureTemplate.enveloped,
            SignatureTemplate.enveloped + "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#WithComments\"/>",
            SignatureTemplate.enveloped + "<ds:Transform Algorithm=\"http://www.w3.org/TR/2001/REC-xml-c14n-20010315\"/>",
            SignatureTemplate.enveloped + """
                <ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><xsl:stylesheet version="1.0" \
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><x/></xsl:template></xsl:stylesheet></ds:Transform>
                """ + "<ds:Transform Algorithm=\"\(SignatureTemplate.exclusiveCanonicalization)\"/>",
            SignatureTemplate.enveloped + """
                <ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>not(ancestor-or-self::saml:Subject)</ds:XPath>\
                </ds:Transform>
                """ + "<ds:Transform Algorithm=\"\(SignatureTemplate.exclusiveCanonicalization)\"/>",
            SignatureTemplate.enveloped + "<ds:Transform Algorithm=\"\(SignatureTemplate.exclusiveCanonicalization)\"/>"
                + "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#base64\"/>",
            "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"><ds:XPath>1</ds:XPath></ds:Transform>"
                + "<ds:Transform Algorithm=\"\(SignatureTemplate.exclusiveCanonicalization)\"/>",
        ])
    func refusesOtherTransforms(transforms: String) throws {
        #expect(try world.outcome(unsigned { $0.transforms = transforms }) == "sig.transform")
    }

    @Test(
        "mvpd #45, #46: other transforms, properly signed",
        arguments: [
            """
            <ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>not(ancestor-or-self::saml:Subject)</ds:XPath>\
            </ds:Transform>
            """,
            "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#WithComments\"/>",
        ])
    func refusesOtherTransformsWhenSigned(transform: String) throws {
        #expect(try world.outcome(try signature { $0.transforms = SignatureTemplate.enveloped + transform }) == "sig.transform")
    }

    @Test(
        "mvpd #46: another canonicalization of the signed information",
        arguments: [
            "http://www.w3.org/2001/10/xml-exc-c14n#WithComments", "http://www.w3.org/TR/2001/REC-xml-c14n-20010315", "",
        ])
    func refusesOtherCanonicalization(uri: String) throws {
        #expect(try world.outcome(unsigned { $0.canonicalization = uri }) == "sig.transform")
    }

    @Test("mvpd #48: a relative namespace URI in the signed part")
    func refusesRelativeNamespace() throws {
        let xml = try world.response().replacingFirst("<saml:Subject>", with: "<saml:Subject><x xmlns=\"relative\"/>")
        #expect(try world.outcome(xml) == "sig.invalid")
    }

    @Test("mvpd #49: an object, and a reference to a manifest")
    func refusesManifest() throws {
        let manifest = """
            <ds:Object><ds:Manifest><ds:Reference URI="#_assertion-1"><ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/>\
            <ds:DigestValue>AAAA</ds:DigestValue></ds:Reference></ds:Manifest></ds:Object>
            """
        #expect(try world.outcome(try signature { $0.tail = manifest }) == "sig.object")
        let typed = unsigned { _ in }
            .replacingFirst("<ds:Reference URI", with: "<ds:Reference Type=\"http://www.w3.org/2000/09/xmldsig#Manifest\" URI")
        #expect(try world.outcome(typed) == "sig.object")
    }

    @Test("mvpd #52: a 1024-bit certificate is marked at configuration, and never used")
    func refusesWeakKey() throws {
        let weak = try PinnedCertificate(der: world.weakProvider.certificateDER)
        #expect(weak.weakness != nil)
        #expect(try PinnedCertificate(der: world.identityProvider.certificateDER).weakness == nil)
        #expect(try PinnedCertificate(der: world.ellipticProvider.certificateDER).weakness == nil)
        let xml = try ResponseTemplate().signed(by: world.weakProvider)
        #expect(try world.outcome(xml, try world.expected { $0.pinnedCertificates = [weak] }) == "sig.alg")
        #expect(try world.outcome(xml, try world.expected { $0.pinnedCertificates.append(weak) }) == "sig.invalid")
    }

    @Test("mvpd #75: the response of MVPD A to a request for MVPD B")
    func refusesResponseOfAnotherMVPD() throws {
        let xml = try world.response()
        let otherKey = try world.expected {
            $0.pinnedCertificates = [try PinnedCertificate(der: world.stranger.certificateDER)]
            $0.issuer = .direct(entityID: "https://other.example")
        }
        #expect(try world.outcome(xml, otherKey) == "sig.invalid")
        #expect(try world.outcome(xml, try world.expected { $0.issuer = .direct(entityID: "https://other.example") }) == "issuer")
    }

    @Test("no pinned certificate at all refuses everything")
    func refusesWithoutPinnedCertificate() throws {
        #expect(try world.outcome(try world.response(), try world.expected { $0.pinnedCertificates = [] }) == "sig.alg")
    }
}
