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
            (genuine + "<x/>", .form), ("", .form), (document(String(repeating: "<md:KeyDescriptor/>", count: 6000)), .limit),
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
}
