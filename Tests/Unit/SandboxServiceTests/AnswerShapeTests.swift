import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Changes of a decision point's answers that tests can set.
@Suite struct AnswerShapeTests {
    let fixture = Fixture()

    private static func question(_ subject: String, _ resources: [String]) -> String {
        let list = resources.map { #"{"Attribute":[{"AttributeId":"\#(XacmlNames.resourceID)","Value":"\#($0)","IncludeInResult":true}]}"# }
        return """
            {"Request":{"AccessSubject":[{"Attribute":[{"AttributeId":"\(XacmlNames.subjectID)","Value":"\(subject)"}]}],
            "Resource":[\(list.joined(separator: ","))]}}
            """
    }

    private func answer(_ shape: String, _ resources: [String]) async throws -> [XacmlResponse.Result] {
        let key = try SandboxSigningKey(pem: Array(try Data(contentsOf: URL(filePath: Keys.shared.path("north.key")))))
        let subscribers = try Subscribers(people: Person.standard, channels: Person.standardChannels, mvpd: "NorthCable", key: key)
        let question = Self.question(subscribers.persistentName(of: try #require(subscribers.person(named: "ada"))), resources)
        return try await fixture.runLive { client in
            let control = try await client.executeRequest(
                uri: "/control/pdp/NorthCable", method: .post, headers: [:], body: ByteBuffer(string: shape))
            #expect(control.status == .noContent)
            let response = try await client.executeRequest(
                uri: "/pdp/NorthCable", method: .post, headers: [.contentType: XacmlNames.mediaType], body: ByteBuffer(string: question))
            return try JSONDecoder().decode(XacmlResponse.self, from: Data(buffer: response.body)).results
        }
    }

    private func names(_ results: [XacmlResponse.Result]) -> [XacmlResponse.Attribute.Value?] {
        results.map { $0.category?.first?.attributes.first?.value }
    }

    @Test func passesOverResources() async throws {
        let results = try await answer(#"{"silentAbout":["ACME1-SPORT"]}"#, ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"])
        #expect(names(results) == [.text("ACME1-NEWS"), .text("ACME1-KIDS")])
        #expect(results.allSatisfy { $0.decision == .permit })
    }

    @Test func answersNothingWhenOneIsUnknown() async throws {
        #expect(try await answer(#"{"silentWhenUnknown":true}"#, ["ACME1-NEWS", "NO-SUCH-CHANNEL"]).isEmpty)
        #expect(try await answer(#"{"silentWhenUnknown":true}"#, ["ACME1-NEWS", "ACME1-KIDS"]).count == 2)
    }

    @Test func turnsTheOrder() async throws {
        #expect(names(try await answer(#"{"reversed":true}"#, ["ACME1-NEWS", "ACME1-KIDS"])) == [.text("ACME1-KIDS"), .text("ACME1-NEWS")])
    }

    @Test func sendsLimitsWithPermits() async throws {
        let results = try await answer(#"{"maxMPAA":"R","maxVCHIP":"TV-14","reauthorizeSeconds":0}"#, ["ACME1-NEWS", "NO-SUCH-CHANNEL"])
        let assignments = [XacmlResponse.Attribute(XacmlNames.maxMPAA, .text("R")), .init(XacmlNames.maxVChip, .text("TV-14"))]
        #expect(results[0].obligations == [.init(identifier: XacmlNames.ratings, assignments: assignments)])
        #expect(results[1].obligations == nil)
    }

    @Test func deniesForAReason() async throws {
        let results = try await answer(#"{"denialReason":"session-invalidated"}"#, ["ACME1-NEWS"])
        #expect(results.map(\.decision) == [.deny])
        #expect(results[0].obligations?.first?.assignments == [.init(XacmlNames.reasonCode, .text("session-invalidated"))])
    }
}
