import Clocks
import Foundation
import SamlSigner
import Testing

@testable import SamlProfile

struct MetadataTests {
    private let world: World
    private let key: SamlSigningKey

    init() throws {
        world = try World.shared.get()
        key = try SamlSigningKey(pem: world.serviceProvider.privateKeyPEM, certificate: world.serviceProvider.certificateDER)
    }

    private func metadata(certificates: [[UInt8]], logout: String? = "https://sp.pass.example/sp/saml/LogoutService") -> ServiceProviderMetadata {
        ServiceProviderMetadata(
            serviceProviderEntityID: ResponseTemplate.serviceProvider, assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService,
            signingCertificates: certificates, encryptionCertificate: world.stranger.certificateDER, singleLogoutServiceURL: logout,
            validUntil: World.now + .seconds(86_400))
    }

    @Test("mvpd #19: the document is signed and names keys and endpoints; during a rollover two signing keys")
    func describesServiceProvider() throws {
        let one = try metadata(certificates: [world.serviceProvider.certificateDER]).document(id: RequestID(rawValue: "_md"), signedWith: key)
        #expect(try Signer.verifies(one, with: world.serviceProvider.certificatePEM))
        #expect(one.contains("validUntil=\"2031-03-05T10:00:05.000Z\""))
        let root = try ParsedDocument.parse(Array(one.utf8)).root
        #expect(root.attribute("entityID") == ResponseTemplate.serviceProvider)
        let role = try #require(root.firstChild("SPSSODescriptor", in: Namespaces.metadata))
        #expect(role.attribute("AuthnRequestsSigned") == "true" && role.attribute("WantAssertionsSigned") == "true")
        let keys = role.children("KeyDescriptor", in: Namespaces.metadata)
        #expect(keys.map { $0.attribute("use") } == ["signing", "encryption"])
        let methods = keys[1].children("EncryptionMethod", in: Namespaces.metadata).map { method in
            ([method.attribute("Algorithm")] + method.children.map { $0.attribute("Algorithm") }).compactMap { $0?.split(separator: "#").last }
                .joined(separator: " ")
        }
        #expect(
            methods == [
                "aes128-gcm", "aes256-gcm", "rsa-oaep-mgf1p sha1", "rsa-oaep-mgf1p sha256", "rsa-oaep sha256 mgf1sha256", "rsa-oaep sha1 mgf1sha1",
            ])
        let consumers = role.children("AssertionConsumerService", in: Namespaces.metadata)
        #expect(consumers.map { $0.attribute("Location") } == [ResponseTemplate.assertionConsumerService])
        #expect(consumers[0].attribute("index") == "0" && consumers[0].attribute("isDefault") == "true")
        #expect(role.children("NameIDFormat", in: Namespaces.metadata).count == 2)
        #expect(role.children("SingleLogoutService", in: Namespaces.metadata).count == 2)

        let two = try metadata(certificates: [world.serviceProvider.certificateDER, world.successor.certificateDER], logout: nil)
            .document(id: RequestID(rawValue: "_md"), signedWith: key)
        let rollover = try #require(try ParsedDocument.parse(Array(two.utf8)).root.firstChild("SPSSODescriptor", in: Namespaces.metadata))
        #expect(rollover.children("KeyDescriptor", in: Namespaces.metadata).map { $0.attribute("use") } == ["signing", "signing", "encryption"])
        #expect(rollover.children("SingleLogoutService", in: Namespaces.metadata).isEmpty)
        #expect(two.contains(Data(world.successor.certificateDER).base64EncodedString()))
    }

    @Test("mvpd §2.7: a requestor has an entity of its own")
    func describesRequestorEntity() throws {
        let xml = try metadata(certificates: [world.serviceProvider.certificateDER])
            .document(requestor: "NEWSBRAND", id: RequestID(rawValue: "_md"), signedWith: key)
        #expect(xml.contains("entityID=\"https://saml.sp.pass.example/on-behalf-of/NEWSBRAND\""))
        #expect(try Signer.verifies(xml, with: world.serviceProvider.certificatePEM))
    }
}
