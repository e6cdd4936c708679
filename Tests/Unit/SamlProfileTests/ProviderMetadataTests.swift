import Clocks
import Foundation
import SamlSigner
import Testing

@testable import SamlProfile

/// Reading an MVPD's metadata (mvpd §2.7).
struct ProviderMetadataTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    private func document(_ keys: String, root: String = "validUntil=\"2031-04-01T00:00:00Z\"", extra: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?><!-- of a tool -->
        <md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"
            xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui" entityID="https://idp.harbor.example/metadata" \(root)>
          <md:IDPSSODescriptor WantAuthnRequestsSigned="1" protocolSupportEnumeration="urn:x urn:oasis:names:tc:SAML:2.0:protocol">
            <md:Extensions><mdui:UIInfo><mdui:DisplayName xml:lang="en">Harbor Cable</mdui:DisplayName></mdui:UIInfo></md:Extensions>
            \(keys)
            <md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.harbor.example/slo"
                ResponseLocation="https://idp.harbor.example/slo/answers"/>
            <md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:transient</md:NameIDFormat>
            <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:SOAP" Location="https://idp.harbor.example/soap"/>
            <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.harbor.example/sso"/>
          </md:IDPSSODescriptor>\(extra)
        </md:EntityDescriptor>
        """
    }

    private func key(_ certificate: [UInt8], use: String = "") -> String {
        let lines = Data(certificate).base64EncodedString(options: .lineLength64Characters)
        return
            "<md:KeyDescriptor\(use)><ds:KeyInfo><ds:X509Data><ds:X509Certificate>\n\(lines)\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
    }

    @Test("Names, addresses, formats and keys are read, whatever the white space")
    func reads() throws {
        let (one, two, three) = (world.identityProvider.certificateDER, world.successor.certificateDER, world.stranger.certificateDER)
        let keys = key(one, use: " use=\"signing\"") + key(two) + key(three, use: " use=\"encryption\"") + key(one)
        let metadata = try IdentityProviderMetadata(document: document(keys))
        #expect(metadata.entityID == "https://idp.harbor.example/metadata" && metadata.displayName == "Harbor Cable")
        #expect(metadata.certificates.map(\.der) == [one, two, three] && metadata.certificates.map(\.signs) == [true, true, false])
        #expect(
            metadata.endpoints.map(\.location) == [
                "https://idp.harbor.example/soap", "https://idp.harbor.example/sso", "https://idp.harbor.example/slo",
            ])
        #expect(metadata.endpoints[1].isRedirect && metadata.endpoints[2].isPost && !metadata.endpoints[0].isPost)
        #expect(metadata.endpoints[2].responseLocation == "https://idp.harbor.example/slo/answers")
        #expect(metadata.nameIDFormats == ["urn:oasis:names:tc:SAML:2.0:nameid-format:transient"])
        #expect(metadata.wantsSignedRequests && metadata.validUntil == Timestamp(seconds: 1_932_768_000))
    }

    @Test("What is no certificate is shown as one that cannot be used")
    func keepsBrokenKeys() throws {
        let keys =
            "<md:KeyDescriptor><ds:KeyInfo><ds:X509Data><ds:X509Certificate>%%%</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
        #expect(try IdentityProviderMetadata(document: document(keys)).certificates.map(\.der) == [[]])
    }

    @Test("A document type, several entities, no identity provider or too much of anything is refused")
    func refuses() throws {
        let genuine = document(key(world.identityProvider.certificateDER))
        let hostile: [(String, RejectionReason)] = [
            (genuine.replacing("<!-- of a tool -->", with: "<!DOCTYPE md:EntityDescriptor SYSTEM \"file:///etc/hostname\">"), .doctype),
            ("<md:EntitiesDescriptor xmlns:md=\"urn:oasis:names:tc:SAML:2.0:metadata\"/>", .root),
            (genuine.replacing("IDPSSODescriptor", with: "SPSSODescriptor"), .root),
            (genuine.replacing("SAML:2.0:protocol\"", with: "SAML:1.1:protocol\""), .root),
            (genuine + "<x/>", .form), ("", .form), (document(String(repeating: "<a/>", count: 20_000)), .limit),
            (document(String(repeating: " ", count: 300_000)), .size),
        ]
        for (text, reason) in hostile {
            do throws(SamlRejection) {
                _ = try IdentityProviderMetadata(document: text)
                Issue.record("accepted: \(reason)")
            } catch {
                #expect(error.reason == reason, "\(text.prefix(80))")
            }
        }
    }

    private func problem(_ text: String) -> String {
        do throws(SamlRejection) {
            _ = try IdentityProviderMetadata(document: text)
            return "accepted"
        } catch { return error.explanation }
    }

    @Test("SAML metadata §2.3.1: an EntitiesDescriptor round one identity provider, as Keycloak has it, is taken; round several it is not")
    func readsWrapped() throws {
        let entity = String(document(key(world.identityProvider.certificateDER)).trimmingPrefix(/<\?xml.*-->\n/))
        func wrapped(_ content: String, _ root: String = "Name=\"urn:keycloak\"") -> String {
            "<md:EntitiesDescriptor xmlns:md=\"urn:oasis:names:tc:SAML:2.0:metadata\" \(root)>\(content)</md:EntitiesDescriptor>"
        }
        for text in [wrapped(entity), wrapped(wrapped(entity)), wrapped(entity + entity.replacing("IDPSSODescriptor", with: "SPSSODescriptor"))] {
            let metadata = try IdentityProviderMetadata(document: text)
            #expect(metadata.entityID == "https://idp.harbor.example/metadata" && metadata.certificates.count == 1)
        }
        #expect(problem(wrapped(entity + entity)).contains("2 identity providers"))
        #expect(problem(wrapped(entity.replacing("IDPSSODescriptor", with: "SPSSODescriptor"))).contains("service provider"))
        let ended = try IdentityProviderMetadata(document: wrapped(entity, "validUntil=\"2031-03-01T00:00:00Z\""))
        #expect(ended.validUntil == Timestamp(seconds: 1_930_089_600), "the wrapper's end is the earlier")
    }

    @Test("SAML metadata §2.4.1: validUntil with any offset, of the role too, and one that cannot be read is never absent")
    func readsEnds() throws {
        let key = key(world.identityProvider.certificateDER)
        func read(_ text: String) throws -> IdentityProviderMetadata {
            try IdentityProviderMetadata(document: document(key, root: "validUntil=\"\(text)\""))
        }
        #expect(try read("2018-05-20T09:35:58+02:00").validUntil == Timestamp(seconds: 1_526_801_758))
        for text in ["2018-05-20", "tomorrow", "2018-05-20T09:35:58", "20.05.2018 09:35", "", "2018-05-20T09:35:58 CEST"] {
            let metadata = try read(text)
            #expect(metadata.validUntil == nil && metadata.validUntilProblem != nil, "\(text)")
        }
        #expect(try read("2018-05-20T09:35:58").validUntilProblem?.contains("time zone") == true)
        let role = try IdentityProviderMetadata(
            document: document(key, root: "").replacing("WantAuthn", with: "validUntil=\"2019-01-01T00:00:00-01:00\" WantAuthn"))
        #expect(role.validUntil == Timestamp(seconds: 1_546_304_400) && role.validUntilProblem == nil)
    }

    @Test("XML 1.0 §4.3.3: UTF-16, Latin-1 and what else a mark or a declaration names is read")
    func readsEncodings() throws {
        let text = document(key(world.identityProvider.certificateDER)).replacing("Harbor Cable", with: "Câble du Port")
        func octets(_ name: String, _ encoding: String.Encoding, mark: [UInt8] = []) throws -> [UInt8] {
            mark + Array(try #require(text.replacing("UTF-8", with: name).data(using: encoding)))
        }
        let files = [
            try octets("utf-16", .utf16LittleEndian, mark: [0xFF, 0xFE]), try octets("UTF-16", .utf16BigEndian, mark: [0xFE, 0xFF]),
            try octets("utf-16", .utf16LittleEndian), try octets("utf-16", .utf16BigEndian), try octets("ISO-8859-1", .isoLatin1),
            try octets("iso-8859-1", .isoLatin1), try octets("windows-1252", .windowsCP1252), try octets("UTF-8", .utf8, mark: [0xEF, 0xBB, 0xBF]),
            // Saved again as UTF-8 by an editor.
            try octets("utf-16", .utf8), try octets("UTF-32", .utf32LittleEndian, mark: [0xFF, 0xFE, 0, 0]),
        ]
        for (index, file) in files.enumerated() {
            let metadata = try IdentityProviderMetadata(document: try MetadataText.text(of: file))
            #expect(metadata.displayName == "Câble du Port" && metadata.certificates.count == 1, "file \(index)")
        }
        func problem(_ octets: [UInt8]) -> String {
            do throws(MetadataText.Rejection) { return "read: \(try MetadataText.text(of: octets))" } catch { return error.message }
        }
        #expect(problem(try octets("UTF-8", .isoLatin1)).contains("not UTF-8"))
        #expect(problem(try octets("x-unheard-of", .isoLatin1)).contains("X-UNHEARD-OF, which is not known"))
        #expect(problem(try octets("us-ascii", .isoLatin1)).contains("is not written in it"))
        #expect(problem(Array(try octets("utf-16", .utf16LittleEndian, mark: [0xFF, 0xFE]).dropLast())).contains("UTF-16"))
        #expect(problem([0xFF, 0xFE, 0x3C, 0x00, 0x00, 0xD8, 0x41, 0x00]).contains("UTF-16"))
        #expect(problem([UInt8](repeating: 0x20, count: MetadataText.largestFile + 1)).contains("larger"))
        #expect(problem(Array("<a>\u{0}</a>".utf8)).contains("NUL"))
        let hidden = Array("\u{FEFF}<!DOCTYPE x [<!ENTITY y 'z'>]>".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(self.problem(try MetadataText.text(of: hidden)).contains("document type"))
    }

    @Test("hand-edited metadata: PEM armour, comments, instructions, CDATA and blanks are read over")
    func readsHandEdited() throws {
        let (one, two) = (world.identityProvider.certificateDER, world.successor.certificateDER)
        let digits = Data(one).base64EncodedString(options: .lineLength64Characters)
        func pem(_ der: [UInt8]) -> String {
            "\n-----BEGIN CERTIFICATE-----\n\(Data(der).base64EncodedString(options: .lineLength64Characters))\n-----END CERTIFICATE-----\n"
        }
        func keys(_ content: String) -> String {
            "<md:KeyDescriptor><ds:KeyInfo><ds:X509Data><ds:X509Certificate>\(content)</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
        }
        let forms = [
            pem(one), "<!-- of 2031 -->\(digits)<!-- end -->", "\(digits.prefix(100))<!-- x -->\(digits.dropFirst(100))", "<![CDATA[\(digits)]]>",
            Data(pem(one).utf8).base64EncodedString(), "-----BEGIN CERTIFICATE-----\(digits)", "\(digits)\n-----END CERTIFICATE-----",
        ]
        for form in forms {
            #expect(try IdentityProviderMetadata(document: document(keys(form))).certificates.map(\.der) == [one], "\(form.prefix(60))")
        }
        #expect(try IdentityProviderMetadata(document: document(keys(pem(one) + pem(two)))).certificates.map(\.der) == [one, two])
        let text = document(keys(digits)).replacing("<!-- of a tool -->", with: "<?xml-stylesheet href=\"x.xsl\"?><!-- of a tool -->")
            .replacing("\"https://idp.harbor.example/sso\"", with: "\"\n  https://idp.harbor.example/sso \"")
            .replacing("entityID=\"", with: "entityID=\" ")
        let metadata = try IdentityProviderMetadata(document: "\n  " + text)
        #expect(metadata.endpoints[1].location == "https://idp.harbor.example/sso" && metadata.entityID == "https://idp.harbor.example/metadata")
    }

    @Test("a certificate that cannot be read is named, each by itself")
    func namesBrokenKeys() throws {
        func keys(_ content: String) -> String {
            "<md:KeyDescriptor><ds:KeyInfo><ds:X509Data><ds:X509Certificate>\(content)</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
        }
        let broken =
            keys("%%%") + keys("MIIC") + keys("") + keys("-----BEGIN PUBLIC KEY-----\nMIIC\n-----END PUBLIC KEY-----") + keys("%%%")
            + "<md:KeyDescriptor><ds:KeyInfo><ds:KeyValue/></ds:KeyInfo></md:KeyDescriptor>"
        let certificates = try IdentityProviderMetadata(document: document(broken)).certificates
        let words = ["not whole base64", "", "is empty", "holds a PUBLIC KEY", "not whole base64", "holds KeyValue"]
        #expect(certificates.count == words.count)
        for (certificate, word) in zip(certificates, words) {
            #expect(word.isEmpty ? certificate.problem.isEmpty : certificate.problem.contains(word))
        }
    }

    @Test("what is given in place of metadata is named")
    func namesOtherDocuments() {
        #expect(problem("{\"issuer\": \"https://op.example\"}").contains("OpenID Connect"))
        #expect(problem(" \n<!DOCTYPE html><html></html>").contains("HTML"))
        #expect(problem("-----BEGIN CERTIFICATE-----\nMIIC").contains("PEM"))
        #expect(problem("entityID: x").contains("no XML"))
        #expect(problem("<a><b></a>").contains("well-formed"))
        #expect(problem("<samlp:Response xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\"/>").contains("root is Response"))
    }
}
