@testable import CommandKit
import Cryptography
import Foundation
import SamlResponder
import Testing

@Suite struct PlayedMvpdTests {
    private static let document = """
        <samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_r1" \
        Version="2.0" AssertionConsumerServiceURL="http://sp.example/acs?a=1&amp;b=2"><saml:Issuer>https://sp.example/on-behalf-of/ACME1</saml:Issuer>\
        </samlp:AuthnRequest>
        """
    /// The document as Python's zlib deflates it (`zlib.compressobj(9, zlib.DEFLATED, -15)`), Base64.
    private static let deflated =
        "fZC7CsJAEEV/JUxhp2tSjtlIUIuANoq2soYJCezLnV3x842KoI3lnXsODLdkZbTHOsXe7umaiGN2N9oyvgoJKVh0igdGqwwxxhYP9W6LxWyOPr"
        + "joWqfhS/lvKGYKcXAWsmYt4RxyyE4UeLxIGAHI6g+xcpaToXCgcBtaOu63EvoYPQrBfkZ3ZbwmoVpeKplPxrS4yAKq8vkENsyJQvXk+Vdwdnqh"
        + "Xulu6jpRr3abvBTfyjv9LlI9AA=="

    @Test func readsTheRequestOfTheRedirectAndOfThePlatform() throws {
        let plain = try #require(AuthnRequestFacts(document: Self.document))
        #expect(plain.id == "_r1" && plain.issuer == "https://sp.example/on-behalf-of/ACME1")
        #expect(plain.assertionConsumerService == "http://sp.example/acs?a=1&b=2")
        #expect(AuthnRequestFacts(profileRequest: Data(Self.document.utf8).base64EncodedString()) == plain)
        #expect(AuthnRequestFacts(redirect: Self.deflated) == plain)
    }

    @Test("a request as other services write it: other prefixes, single quotes, line breaks")
    func otherWriters() throws {
        let facts = try #require(
            AuthnRequestFacts(
                document: """
                    <saml2p:AuthnRequest xmlns:saml2p='urn:oasis:names:tc:SAML:2.0:protocol' ProviderID='no'
                      AssertionConsumerServiceURL='https://sp.example/acs?a=1&amp;b=2'
                      ID='_r2'><saml2:Issuer xmlns:saml2='urn:oasis:names:tc:SAML:2.0:assertion'>
                      https://sp.example
                    </saml2:Issuer></saml2p:AuthnRequest>
                    """))
        #expect(facts.id == "_r2" && facts.issuer == "https://sp.example" && facts.assertionConsumerService == "https://sp.example/acs?a=1&b=2")
        let plain = "<AuthnRequest ID=\"_r3\" AssertionConsumerServiceURL=\"https://sp.example/acs\"><Issuer>sp</Issuer></AuthnRequest>"
        #expect(AuthnRequestFacts(document: plain)?.issuer == "sp")
    }

    @Test(arguments: ["", "%%%", "AAAA", "c3RpbGwgbm90aGluZw=="])
    func whatIsNoRequestIsNone(_ text: String) {
        #expect(AuthnRequestFacts(redirect: text) == nil)
        #expect(AuthnRequestFacts(profileRequest: text) == nil)
    }

    @Test func theSignatureIsOverTheAssertionAsItIsSent() throws {
        let key = try RSAPrivateKey.generate()
        let facts = try #require(AuthnRequestFacts(document: Self.document))
        let subscriber = PlayedMvpd.Subscriber(nameID: "a<b&c", householdID: "h", channels: ["NEWS"])
        let response = try PlayedMvpd(entityID: "urn:idp", key: key).response(
            to: facts, for: subscriber, now: Date(timeIntervalSince1970: 1_800_000_000))
        let assertion = String(try #require(response.firstMatch(of: /<saml:Assertion.*<\/saml:Assertion>/)).0)
        let signature = String(try #require(assertion.firstMatch(of: /<ds:Signature .*<\/ds:Signature>/)).0)
        let digest = try #require(signature.firstMatch(of: /<ds:DigestValue>([^<]+)</)).1
        #expect(String(digest) == Base64.standard.encode(SHA256.hash(assertion.replacing(signature, with: ""))))
        let info = try #require(signature.firstMatch(of: /<ds:SignedInfo>(.*)<\/ds:SignedInfo>/)).1
        let canonical = "<ds:SignedInfo xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\">\(info)</ds:SignedInfo>"
        let encoded = try #require(signature.firstMatch(of: /<ds:SignatureValue>([^<]+)</)).1
        let value = try #require(Data(base64Encoded: String(encoded)))
        #expect(key.publicKey.isValid([UInt8](value), for: Array(canonical.utf8)))
        #expect(assertion.contains("a&lt;b&amp;c") && assertion.contains("Recipient=\"http://sp.example/acs?a=1&amp;b=2\""))
        #expect(
            response.contains("InResponseTo=\"_r1\"") && response.contains("<saml:Audience>https://sp.example/on-behalf-of/ACME1</saml:Audience>"))
    }
}
