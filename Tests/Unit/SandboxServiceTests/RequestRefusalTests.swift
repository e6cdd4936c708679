import Clocks
import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

@Suite struct RequestRefusalTests {
    enum Part: Sendable { case issuer, acsURL, attributes }

    let fixture = Fixture()

    private var request: AuthnRequestText { AuthnRequestText(issuedAt: fixture.clock.now()) }

    private func reason(redirect query: String) async throws -> String? {
        try await fixture.run { client in
            var browser = Browser(client)
            let page = try await browser.get("/saml/NorthCable/sso?\(query)")
            return page.status == .badRequest ? page.text(id: "reason") : nil
        }
    }

    private func reason(post form: String) async throws -> String? {
        try await fixture.run { client in
            var browser = Browser(client)
            let page = try await browser.post("/saml/NorthCable/sso", form)
            return page.status == .badRequest ? page.text(id: "reason") : nil
        }
    }

    private func message(of form: String) throws -> String {
        let text = try #require(try FormFields(encoded: form).single("SAMLRequest"))
        return String(decoding: try #require(Base64.octets(text)), as: UTF8.self)
    }

    @Test func refusesAQueryThatIsNotSigned() async throws {
        let query = try request.query()
        let bare = try #require(query.components(separatedBy: "&SigAlg").first)
        #expect(try await reason(redirect: bare) == "sig.missing")
    }

    @Test func refusesAQuerySignedByAnother() async throws {
        var forged = request
        forged.key = "stranger"
        #expect(try await reason(redirect: try forged.query()) == "sig.invalid")
    }

    @Test func refusesAQueryWithAnotherRelayState() async throws {
        let query = try request.query().replacingOccurrences(of: "RelayState=handle", with: "RelayState=hundle")
        #expect(try await reason(redirect: query) == "sig.invalid")
    }

    @Test func refusesAQueryThatWasEncodedAnew() async throws {
        let query = try request.query().replacingOccurrences(of: "%2Fxmldsig", with: "%2fxmldsig")
        #expect(query.contains("%2fxmldsig"))
        #expect(try await reason(redirect: query) == "sig.invalid")
    }

    @Test func refusesAWeakAlgorithm() async throws {
        let query = try request.query(algorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1")
        #expect(try await reason(redirect: query) == "sig.alg")
    }

    @Test func refusesParametersThatOccurTwiceOrDoNotBelong() async throws {
        let query = try request.query()
        #expect(try await reason(redirect: query + "&SAMLRequest=AAAA") == "bind.params")
        #expect(try await reason(redirect: query + "&SAMLResponse=AAAA") == "bind.params")
        #expect(try await reason(redirect: query + "&RelayState=other") == "bind.params")
        #expect(try await reason(redirect: "") == "bind.params")
    }

    @Test func refusesALongRelayState() async throws {
        var long = request
        long.relayState = String(repeating: "r", count: 81)
        #expect(try await reason(redirect: try long.query()) == "bind.params")
    }

    @Test func refusesAFormThatIsNotSigned() async throws {
        #expect(try await reason(post: request.form(request.xml)) == "sig.missing")
    }

    @Test func refusesAFormSignedByAnother() async throws {
        var forged = request
        forged.key = "stranger"
        #expect(try await reason(post: try forged.form()) == "sig.invalid")
    }

    @Test func refusesAFormChangedAfterSigning() async throws {
        let signed = try message(of: try request.form())
        let changed = signed.replacingOccurrences(of: "/on-behalf-of/ACME1", with: "/on-behalf-of/ACME2")
        #expect(changed != signed)
        #expect(try await reason(post: request.form(changed)) == "sig.invalid")
    }

    @Test func refusesASignedRequestInsideAnother() async throws {
        let signed = try message(of: try request.form())
        let inner = signed.replacing(/<\?xml[^>]*>\n?/, with: "")
        var outer = request
        outer.identifier = "_outer"
        outer.scoping = "<samlp:Extensions>\(inner)</samlp:Extensions>"
        #expect(try await reason(post: request.form(outer.xml)) == "xsw.sigposition")
    }

    @Test(arguments: [
        (Part.issuer, "https://other.example", "issuer"),
        (Part.issuer, Fixture.entityID + "/on-behalf-of/", "issuer"),
        (Part.issuer, Fixture.entityID + ".evil.example", "issuer"),
        (.acsURL, "https://evil.example/acs", "req.acs"),
        (.attributes, #"IsPassive="maybe""#, "xml.form"),
    ])
    func refusesAWellSignedRequestWithAWrongPart(part: Part, value: String, code: String) async throws {
        var wrong = request
        switch part {
        case .issuer: wrong.issuer = value
        case .acsURL: wrong.acsURL = value
        case .attributes: wrong.attributes = value
        }
        #expect(try await reason(redirect: try wrong.query()) == code)
    }

    @Test func refusesARequestForAnotherDestination() async throws {
        var other = request
        other.destination = "\(Fixture.publicURL)/saml/LakeTel/sso"
        #expect(try await reason(redirect: try other.query()) == "req.destination")
    }

    @Test(arguments: [-301, 301])
    func refusesARequestFromAnotherTime(seconds: Int) async throws {
        var other = request
        other.issuedAt = fixture.clock.now() + .seconds(seconds)
        #expect(try await reason(redirect: try other.query()) == "req.stale")
    }

    @Test func acceptsAnUnsignedRequestWhenToldTo() async throws {
        let page = try await fixture.run(Fixture.settings(northcable: #", "validateRequests": false"#)) { [request] client in
            var browser = Browser(client)
            return try await browser.post("/saml/NorthCable/sso", request.form(request.xml))
        }
        #expect(page.status == .ok)
        #expect(page.field("state") != nil)
    }

    @Test func knowsNoOtherProvider() async throws {
        let status = try await fixture.run { [request] client in
            var browser = Browser(client)
            return try await browser.get("/saml/ParkedTV/sso?\(try request.query())").status
        }
        #expect(status == .notFound)
    }
}
