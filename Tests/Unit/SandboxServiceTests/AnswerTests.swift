import Clocks
import Foundation
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

@Suite struct AnswerTests {
    private static let assertion = "urn:oasis:names:tc:SAML:2.0:assertion:Assertion"
    private static let response = "urn:oasis:names:tc:SAML:2.0:protocol:Response"

    let fixture = Fixture()

    private func signIn(_ name: String, at mvpd: String = "NorthCable", format: String? = nil) async throws -> Answer {
        var request = AuthnRequestText(mvpd: mvpd, issuedAt: fixture.clock.now())
        if let format { request.format = format }
        return try await fixture.run { [request] client in
            var browser = Browser(client)
            let page = try await browser.login(try await browser.redirect(request), mvpd: mvpd, name: name, password: name)
            return try page.decoded()
        }
    }

    @Test func signsTheAssertionForNorthCable() async throws {
        let answer = try await signIn("ada")
        #expect(try answer.verifies(Self.assertion, certificate: "north.crt"))
        #expect(try !answer.verifies(Self.assertion, certificate: "lake.crt"))
        let altered = try Answer(answer.xml.replacingOccurrences(of: ">ACME1-NEWS<", with: ">ACME1-NEWZ<"))
        #expect(try !altered.verifies(Self.assertion, certificate: "north.crt"))
    }

    @Test func signsTheResponseAndEncryptsASignedAssertionForLakeTel() async throws {
        let answer = try await signIn("ada", at: "LakeTel")
        #expect(answer.assertion == nil)
        #expect(try answer.verifies(Self.response, certificate: "lake.crt"))
        let key = Keys.shared.path("sp-encryption.key")
        let opened = try Tool.run("xmlsec1", ["--decrypt", "--privkey-pem", key], on: answer.xml)
        #expect(opened.status == 0)
        let decrypted = try Answer(String(decoding: opened.output, as: UTF8.self))
        let inner = try #require(decrypted.xml.firstMatch(of: /<saml:Assertion .*<\/saml:Assertion>/))
        #expect(try Answer(String(inner.output)).verifies(Self.assertion, certificate: "lake.crt"))
        #expect(decrypted.attribute("channelID") == Person.standardChannels)
        #expect(answer.xml.contains("http://www.w3.org/2009/xmlenc11#aes256-gcm"))
        #expect(answer.xml.contains("http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"))
        let wrong = try Tool.run("xmlsec1", ["--decrypt", "--privkey-pem", Keys.shared.path("stranger.key")], on: answer.xml)
        #expect(wrong.status != 0)
    }

    @Test func signsAFailureForLakeTel() async throws {
        let request = AuthnRequestText(mvpd: "LakeTel", issuedAt: fixture.clock.now())
        let answer = try await fixture.run { client in
            var browser = Browser(client)
            let login = try await browser.redirect(request)
            return try await browser.login(login, mvpd: "LakeTel", name: "", password: "", action: "cancel").decoded()
        }
        #expect(try answer.verifies(Self.response, certificate: "lake.crt"))
    }

    @Test(arguments: ["NorthCable", "LakeTel"])
    func writesNoWhiteSpaceThatAppsCouldCollapse(mvpd: String) async throws {
        let answer = try await signIn("dan", at: mvpd)
        #expect(!answer.xml.contains { $0 == "\n" || $0 == "\r" || $0 == "\t" })
        #expect(!answer.xml.contains("  "))
    }

    @Test func bindsTheAssertionToTheRequest() async throws {
        let assertion = try #require(try await signIn("ada").assertion)
        let now = fixture.clock.now()
        let confirmation = assertion.only("Subject", in: XmlNames.assertion)?.only("SubjectConfirmation", in: XmlNames.assertion)
        let data = try #require(confirmation?.only("SubjectConfirmationData", in: XmlNames.assertion))
        #expect(
            data.attributes == [
                "InResponseTo": "_request-1", "Recipient": Fixture.acsURL, "NotOnOrAfter": Instant.text(now + Assertion.validity),
            ])
        let conditions = try #require(assertion.only("Conditions", in: XmlNames.assertion))
        #expect(conditions.attributes == ["NotBefore": Instant.text(now), "NotOnOrAfter": Instant.text(now + Assertion.validity)])
        let audience = conditions.only("AudienceRestriction", in: XmlNames.assertion)?.only("Audience", in: XmlNames.assertion)
        #expect(audience?.text == Fixture.entityID + "/on-behalf-of/ACME1")
    }

    @Test func givesAPersonTheSameOpaqueNameEachTime() async throws {
        let first = try #require(try await signIn("ada").nameID)
        let second = try #require(try await signIn("ada").nameID)
        #expect(first.text == second.text)
        #expect(first.attributes["Format"] == "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent")
        #expect(first.attributes["SPNameQualifier"] == Fixture.entityID)
        #expect(first.text?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(try await signIn("ben").nameID?.text != first.text)
    }

    @Test func givesANewTransientNameEachTime() async throws {
        let format = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
        let first = try #require(try await signIn("ada", format: format).nameID)
        let second = try #require(try await signIn("ada", format: format).nameID)
        #expect(first.attributes["Format"] == format)
        #expect(first.text != second.text)
    }

    @Test func refusesANameFormatItDoesNotOffer() async throws {
        var request = AuthnRequestText(issuedAt: fixture.clock.now())
        request.format = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
        let answer = try await fixture.run { [request] client in
            var browser = Browser(client)
            return try await browser.redirect(request).decoded()
        }
        #expect(answer.statuses.last == "urn:oasis:names:tc:SAML:2.0:status:InvalidNameIDPolicy")
    }

    @Test func tellsTheAttributesOfEachPerson() async throws {
        let ada = try await signIn("ada")
        #expect(ada.attribute("userID") == [ada.nameID?.text])
        #expect(ada.attribute("channelID") == Person.standardChannels)
        #expect(ada.attribute("zip") == ["10001"])
        #expect(ada.attribute("is_hoh") == ["1"])
        #expect(ada.attribute("hba_status") == ["false"])
        let cleo = try await signIn("cleo")
        #expect(cleo.attribute("channelID").isEmpty)
        #expect(cleo.attribute("householdID") != ada.attribute("householdID"))
        let dan = try await signIn("dan")
        #expect(dan.attribute("maxRating") == [#"{"MPAA":"PG","VCHIP":"TV-PG"}"#])
        #expect(dan.attribute("zip") == ["10001", "10002"])
        #expect(dan.attribute("is_hoh") == ["0"])
    }

    @Test func describesItselfInMetadata() async throws {
        let text = try await fixture.run { client in
            String(buffer: try await client.executeRequest(uri: "/saml/NorthCable/metadata", method: .get, headers: [:], body: nil).body)
        }
        let root = try XmlElement(parsing: Array(text.utf8))
        #expect(root.attributes["entityID"] == "\(Fixture.publicURL)/saml/NorthCable/metadata")
        let provider = try #require(root.only("IDPSSODescriptor", in: XmlNames.metadata))
        #expect(provider.attributes["WantAuthnRequestsSigned"] == "true")
        let services = provider.children("SingleSignOnService", in: XmlNames.metadata)
        #expect(services.map { $0.attributes["Location"] } == Array(repeating: "\(Fixture.publicURL)/saml/NorthCable/sso", count: 2))
        let pem = try String(contentsOfFile: Keys.shared.path("north.crt"), encoding: .utf8)
        let body = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        #expect(text.contains(">\(body)<"))
    }
}
