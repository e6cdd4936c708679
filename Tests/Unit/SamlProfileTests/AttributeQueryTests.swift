import Clocks
import Foundation
import SamlSigner
import Testing

@testable import SamlProfile

/// The alternative to an AuthnRequest for a platform's framework (mvpd §2.8).
struct AttributeQueryTests {
    private let world: World
    private let key: SamlSigningKey

    init() throws {
        world = try World.shared.get()
        key = try SamlSigningKey(pem: world.serviceProvider.privateKeyPEM, certificate: world.serviceProvider.certificateDER)
    }

    private func document(_ attributeNames: [String] = ["userID", "householdID"]) throws -> String {
        let query = AttributeQuery(
            id: RequestID(rawValue: "_6f1c"), issuedAt: Timestamp(milliseconds: 1_930_384_800_007), destination: "https://idp.harbor.example/sso",
            issuer: ResponseTemplate.serviceProvider, attributeNames: attributeNames)
        return String(decoding: try #require(Data(base64Encoded: try query.signedDocument(signedWith: key))), as: UTF8.self)
    }

    @Test("mvpd §2.8: the query's enveloped signature verifies with the service provider's key, over its names too")
    func signs() throws {
        let xml = try document()
        #expect(try Signer.verifies(xml, with: world.serviceProvider.certificatePEM))
        #expect(try !Signer.verifies(xml, with: world.stranger.certificatePEM))
        #expect(try !Signer.verifies(xml.replacingFirst("householdID", with: "zip"), with: world.serviceProvider.certificatePEM))
    }

    @Test("mvpd §2.8: the children stand in the order of the schema, and the subject is the bearer of the query")
    func ordersChildren() throws {
        let root = try ParsedDocument.parse(Array(document(["userID", "a \"<&\" b"]).utf8)).root
        #expect(root.isNamed("AttributeQuery", in: Namespaces.protocol))
        #expect(root.attribute("Destination") == "https://idp.harbor.example/sso")
        let order: [(StaticString, StaticString)] = [
            ("Issuer", Namespaces.assertion), ("Signature", Namespaces.signature), ("Subject", Namespaces.assertion),
            ("Attribute", Namespaces.assertion), ("Attribute", Namespaces.assertion),
        ]
        let children = Array(root.children)
        #expect(children.count == order.count)
        for (child, (name, namespace)) in zip(children, order) { #expect(child.isNamed(name, in: namespace)) }
        let confirmations = Array(children[2].children)
        #expect(confirmations.count == 1 && confirmations[0].attribute("Method") == SamlURI.bearer)
        #expect(children[3...].map { $0.attribute("Name") } == ["userID", "a \"<&\" b"])
    }

    @Test("mvpd §2.8: without names all attributes are asked for")
    func asksForAll() throws {
        #expect(try Array(ParsedDocument.parse(Array(document([]).utf8)).root.children("Attribute", in: Namespaces.assertion)).isEmpty)
    }

    @Test("mvpd §2.8: an answer to a query needs no authn statement, but names the request")
    func acceptsWithoutStatement() throws {
        let expected = try world.expected { $0.requiresAuthnStatement = false }
        let xml = try world.assertion { $0.hasAuthnStatement = false }
        #expect(try world.outcome(xml) == "authn")
        #expect(try world.accepted(xml, expected).authnInstant == nil)
        #expect(try world.outcome(world.response { $0.inResponseTo = "_framework-1" }, expected) == "resp.request")
    }
}
