import Clocks
import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

@Suite struct DecisionTests {
    let fixture = Fixture()

    private static func resource(_ identifier: String, included: Bool = true, more: String = "") -> String {
        #"{"Attribute":[{"AttributeId":"\#(XacmlNames.resourceID)","Value":"\#(identifier)","IncludeInResult":\#(included)}\#(more)]}"#
    }

    private static func rated(_ rating: String, _ scheme: String = "urn:v-chip") -> String {
        resource("ACME2-MOVIES", more: #",{"AttributeId":"\#(XacmlNames.rating):\#(scheme)","Value":"\#(rating)"}"#)
    }

    private static func question(_ subject: String, _ resources: [String]) -> String {
        """
        {"Request":{"AccessSubject":[{"Attribute":[{"AttributeId":"\(XacmlNames.subjectID)","Value":"\(subject)"}]}],
        "Action":[{"Attribute":[{"AttributeId":"urn:oasis:names:tc:xacml:1.0:action:action-id","Value":"VIEW"}]}],
        "Resource":[\(resources.joined(separator: ","))],"Environment":[]}}
        """
    }

    private static func subject(_ name: String) throws -> String {
        let pem = try Data(contentsOf: URL(filePath: Keys.shared.path("north.key")))
        let key = try SandboxSigningKey(pem: Array(pem))
        let subscribers = try Subscribers(people: Person.standard, channels: Person.standardChannels, mvpd: "NorthCable", key: key)
        return subscribers.persistentName(of: try #require(subscribers.person(named: name)))
    }

    private static func ask(_ client: any TestClientProtocol, _ question: String) async throws -> TestResponse {
        try await client.executeRequest(
            uri: "/pdp/NorthCable", method: .post, headers: [.contentType: XacmlNames.mediaType], body: ByteBuffer(string: question)
        )
    }

    private func decide(_ name: String, _ resources: [String]) async throws -> [XacmlResponse.Result] {
        let question = Self.question(try Self.subject(name), resources)
        return try await fixture.run { client in
            let response = try await Self.ask(client, question)
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == XacmlNames.mediaType)
            return try JSONDecoder().decode(XacmlResponse.self, from: Data(buffer: response.body)).results
        }
    }

    @Test(arguments: [
        ("ada", "ACME1-NEWS", XacmlResponse.Decision.permit), ("ada", "ACME2-MOVIES", .permit), ("ben", "ACME1-NEWS", .permit),
        ("ben", "ACME1-SPORT", .deny), ("cleo", "ACME1-NEWS", .deny), ("ada", "acme1-news", .deny), ("ada", "ACME1-NEWS ", .deny),
        ("ada", "NO-SUCH-CHANNEL", .deny),
    ])
    func decidesBySubscription(name: String, channel: String, decision: XacmlResponse.Decision) async throws {
        #expect(try await decide(name, [Self.resource(channel)]).map(\.decision) == [decision])
    }

    @Test func whoeverBearsTheVisitorsPrefixHasAllChannels() throws {
        let key = try SandboxSigningKey(pem: Array(try Data(contentsOf: URL(filePath: Keys.shared.path("north.key")))))
        let subscribers = try Subscribers(
            people: Person.standard, channels: Person.standardChannels, visitorPrefix: "load-user-", mvpd: "NorthCable", key: key)
        let visitor = try #require(subscribers.person(subject: "load-user-1"))
        #expect(subscribers.channels(of: visitor) == Person.standardChannels)
        for stranger in ["load-use", "Load-user-1", "x-load-user-1"] { #expect(subscribers.person(subject: stranger) == nil) }
        #expect(subscribers.authenticate(name: "load-user-1", password: "load-user-1") == nil, "they have no login")
        let closed = try Subscribers(people: Person.standard, channels: Person.standardChannels, mvpd: "NorthCable", key: key)
        #expect(closed.person(subject: "load-user-1") == nil)
    }

    @Test func answersEachResourceByName() async throws {
        let results = try await decide(
            "ben", [Self.resource("ACME1-SPORT"), Self.resource("ACME1-NEWS"), Self.resource("ACME1-KIDS", included: false)])
        #expect(results.map(\.decision) == [.deny, .permit, .deny])
        let names = results.map { $0.category?.first?.attributes.first }
        #expect(names == [.init(XacmlNames.resourceID, .text("ACME1-SPORT")), .init(XacmlNames.resourceID, .text("ACME1-NEWS")), nil])
    }

    @Test func limitsTheLifeOfAPermit() async throws {
        let result = try #require(try await decide("ada", [Self.resource("ACME1-NEWS")]).first)
        let assignment = XacmlResponse.Attribute(XacmlNames.reauthorize, .number(3600))
        #expect(result.obligations == [.init(identifier: XacmlNames.reauthorize, assignments: [assignment])])
    }

    @Test func offersAnUpgradeOnlyForChannelsThatExist() async throws {
        let results = try await decide("cleo", [Self.resource("ACME1-NEWS"), Self.resource("NO-SUCH-CHANNEL")])
        #expect(results[0].obligations?.map(\.identifier) == [XacmlNames.upgrade])
        #expect(results[0].obligations?[0].assignments?.map(\.identifier) == [XacmlNames.message])
        #expect(results[1].obligations == nil)
        #expect(results[1].status.message != nil)
    }

    @Test(arguments: [
        ("dan", "TV-PG", XacmlResponse.Decision.permit), ("dan", "TV-14", .deny), ("dan", "TV-MA", .deny), ("dan", "tv-y7-fv", .permit),
        ("dan", "PG", .permit), ("dan", "R", .deny), ("dan", "whatever", .deny), ("ada", "TV-MA", .permit), ("ada", "whatever", .permit),
    ])
    func keepsTheParentalLimit(name: String, rating: String, decision: XacmlResponse.Decision) async throws {
        let result = try #require(try await decide(name, [Self.rated(rating)]).first)
        #expect(result.decision == decision)
        #expect((result.obligations?.first?.identifier == XacmlNames.restrict) == (decision == .deny))
    }

    @Test func decidesByTheChannelWhenTheResourceIsAProgramme() async throws {
        let network = #",{"AttributeId":"\#(XacmlNames.channel)","Value":"ACME1-NEWS"}"#
        let results = try await decide("ben", [Self.resource("episode-7", more: network)])
        #expect(results.map(\.decision) == [.permit])
        #expect(results[0].category?[0].attributes[0].value == .text("episode-7"))
    }

    @Test func isIndeterminateWithoutAKnownSubject() async throws {
        for question in [Self.question("ada", [Self.resource("ACME1-NEWS")]), #"{"Request":{"Resource":\#(Self.resource("ACME1-NEWS"))}}"#] {
            let response = try await fixture.run { client in try await Self.ask(client, question) }
            let results = try JSONDecoder().decode(XacmlResponse.self, from: Data(buffer: response.body)).results
            #expect(results.map(\.decision) == [.indeterminate])
        }
    }

    @Test func knowsTheTransientNameItGaveOut() async throws {
        var request = AuthnRequestText(issuedAt: fixture.clock.now())
        request.format = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            let page = try await browser.login(try await browser.redirect(request), name: "ben", password: "ben")
            let name = try #require(page.decoded().nameID?.text)
            let response = try await Self.ask(client, Self.question(name, [Self.resource("ACME1-NEWS")]))
            let results = try JSONDecoder().decode(XacmlResponse.self, from: Data(buffer: response.body)).results
            #expect(results.map(\.decision) == [.permit])
        }
    }

    @Test func refusesWhatIsNotAQuestion() async throws {
        try await fixture.run { client async throws -> Void in
            for text in ["", "[]", "{", #"{"Request":{"Resource":[{"Attribute":[{"Value":"x"}]}]}}"#] {
                #expect(try await Self.ask(client, text).status == .badRequest, "\(text)")
            }
            let plain = try await client.executeRequest(
                uri: "/pdp/NorthCable", method: .post, headers: [.contentType: "text/plain"], body: ByteBuffer(string: "{}"))
            #expect(plain.status == .unsupportedMediaType)
            let unknown = try await client.executeRequest(uri: "/pdp/Nobody", method: .post, headers: [:], body: ByteBuffer(string: "{}"))
            #expect(unknown.status == .notFound)
        }
    }
}
