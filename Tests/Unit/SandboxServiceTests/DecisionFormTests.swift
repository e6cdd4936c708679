import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The forms of questions and answers beside JSON (mvpd §4.1, §4.2).
@Suite struct DecisionFormTests {
    let fixture = Fixture()

    private static func request(_ subject: String, _ resource: String) -> String {
        let attribute = { (identifier: String, value: String) in
            "<Attribute AttributeId=\"\(identifier)\" DataType=\"\(XacmlNames.string)\"><AttributeValue>\(value)</AttributeValue></Attribute>"
        }
        return """
            <Request xmlns="urn:oasis:names:tc:xacml:2.0:context:schema:os"><Subject>\(attribute(XacmlNames.subjectID, subject))</Subject>\
            <Resource>\(attribute(XacmlNames.resourceID, resource))</Resource><Action/><Environment/></Request>
            """
    }

    private static func subject(_ name: String) throws -> String {
        let key = try SandboxSigningKey(pem: Array(try Data(contentsOf: URL(filePath: Keys.shared.path("north.key")))))
        let subscribers = try Subscribers(people: Person.standard, channels: Person.standardChannels, mvpd: "NorthCable", key: key)
        return subscribers.persistentName(of: try #require(subscribers.person(named: name)))
    }

    private func ask(_ body: String, type: String = "text/xml; charset=utf-8") async throws -> (status: HTTPResponse.Status, root: XmlElement?) {
        try await fixture.run { client in
            let response = try await client.executeRequest(
                uri: "/pdp/NorthCable", method: .post, headers: [.contentType: type], body: ByteBuffer(string: body))
            return (response.status, try? XmlElement(parsing: Array(buffer: response.body)))
        }
    }

    private func results(_ root: XmlElement?) -> [(resource: String?, decision: String?)] {
        (root?.children("Result", in: XmlNames.decisionContext) ?? []).map {
            ($0.attributes["ResourceId"], $0.only("Decision", in: XmlNames.decisionContext)?.text)
        }
    }

    @Test(arguments: [("ada", "ACME1-NEWS", "Permit"), ("ben", "ACME1-SPORT", "Deny"), ("cleo", "ACME1-NEWS", "Deny")])
    func decidesInXml(name: String, channel: String, decision: String) async throws {
        let (status, root) = try await ask(Self.request(try Self.subject(name), channel))
        #expect(status == .ok && root?.name == "Response")
        #expect(results(root).map(\.resource) == [channel] && results(root).map(\.decision) == [decision])
        let obligations = root?.only("Result", in: XmlNames.decisionContext)?.only("Obligations", in: XmlNames.decisionPolicy)
        let obligation = obligations?.only("Obligation", in: XmlNames.decisionPolicy)
        #expect(obligation?.attributes["ObligationId"] == (decision == "Permit" ? XacmlNames.reauthorize : XacmlNames.upgrade))
        #expect(obligation?.attributes["FulfillOn"] == decision)
    }

    @Test func decidesByRest() async throws {
        let document = Data("<rss version=\"2.0\"><channel><title>ACME1-NEWS</title><item><guid>g-1</guid></item></channel></rss>".utf8)
        let subject = try Self.subject("ben")
        let encoded = document.base64EncodedString().replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
        try await fixture.run { client async throws -> Void in
            let uri = "/pdp/NorthCable?uuID=\(subject)&mrss=\(encoded)&IPAddress=203.0.113.9"
            let response = try await client.executeRequest(uri: uri, method: .get, headers: [:], body: nil)
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == "text/xml; charset=utf-8")
            let found = results(try XmlElement(parsing: Array(buffer: response.body)))
            #expect(found.map(\.resource) == ["g-1"] && found.map(\.decision) == ["Permit"])
            let broken = try await client.executeRequest(uri: "/pdp/NorthCable?uuID=x&mrss=!", method: .get, headers: [:], body: nil)
            #expect(broken.status == .badRequest)
        }
    }

    @Test func refusesQueriesThatAreNotSigned() async throws {
        let query = """
            <s:Envelope xmlns:s="\(XmlNames.soap)"><s:Body><q:XACMLAuthzDecisionQuery xmlns:q="\(XmlNames.decisionProtocol)" ID="_1" Version="2.0"/>\
            </s:Body></s:Envelope>
            """
        for body in [query, "<s:Envelope xmlns:s=\"\(XmlNames.soap)\"><s:Body/></s:Envelope>", "<a/>", "<!DOCTYPE a><a/>", "no xml"] {
            #expect(try await ask(body).status == .badRequest, "\(body)")
        }
    }

    @Test("A query names the address that services call, which need not be the one of browsers")
    func expectsTheAddressOfServices() async throws {
        let settings = Fixture.settings(extra: #", "serviceURL": "http://inside:8090""#, northcable: #", "validateRequests": false"#)
        let request = Self.request(try Self.subject("ada"), "ACME1-NEWS")
        for (address, status) in [("http://inside:8090", HTTPResponse.Status.ok), (Fixture.publicURL, .badRequest)] {
            let query = """
                <s:Envelope xmlns:s="\(XmlNames.soap)"><s:Body><q:XACMLAuthzDecisionQuery xmlns:q="\(XmlNames.decisionProtocol)" ID="_1" Version="2.0" \
                IssueInstant="\(Instant.text(fixture.clock.now()))" Destination="\(address)/pdp/NorthCable">\
                <Issuer xmlns="\(XmlNames.assertion)">\(Fixture.entityID)</Issuer>\(request)</q:XACMLAuthzDecisionQuery></s:Body></s:Envelope>
                """
            let response = try await fixture.run(settings) { client in
                try await client.executeRequest(
                    uri: "/pdp/NorthCable", method: .post, headers: [.contentType: "text/xml; charset=utf-8"], body: ByteBuffer(string: query))
            }
            #expect(response.status == status, "\(address): \(String(buffer: response.body))")
        }
    }

    @Test func readsTheMannersOfAnswers() throws {
        let json = #"{"signs":"both","issuer":"urn:x","ageSeconds":10,"validSeconds":20,"audience":"urn:y","namesQuery":false,"doubled":true}"#
        let disturbance = try Disturbance(json: Array(json.utf8))
        #expect(
            disturbance.soap
                == SoapManner(
                    signature: .both, issuer: "urn:x", audience: "urn:y", age: .seconds(10), validity: .seconds(20), namesQuery: false))
        #expect(disturbance.shape.isDoubled)
        #expect(throws: SettingsFault.self) { try Disturbance(json: Array(#"{"signs":"everything"}"#.utf8)) }
    }
}
