import Clocks
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

@Suite struct ControlTests {
    private static let question = """
        {"Request":{"AccessSubject":[{"Attribute":[{"AttributeId":"\(XacmlNames.subjectID)","Value":"x"}]}],
        "Resource":[{"Attribute":[{"AttributeId":"\(XacmlNames.resourceID)","Value":"ACME1-NEWS","IncludeInResult":true}]}]}}
        """

    let fixture = Fixture()

    private static func post(_ client: any TestClientProtocol, _ uri: String, _ body: String) async throws -> HTTPResponse.Status {
        try await client.executeRequest(uri: uri, method: .post, headers: [:], body: ByteBuffer(string: body)).status
    }

    private static func ask(_ client: any TestClientProtocol) async throws -> TestResponse {
        try await client.executeRequest(
            uri: "/pdp/NorthCable", method: .post, headers: [.contentType: XacmlNames.mediaType], body: ByteBuffer(string: question)
        )
    }

    private static func log(_ client: any TestClientProtocol) async throws -> RequestLog.Report {
        let response = try await client.executeRequest(uri: "/control/log", method: .get, headers: [:], body: nil)
        return try JSONDecoder().decode(RequestLog.Report.self, from: Data(buffer: response.body))
    }

    @Test(
        "a page of another site has no say, nor has a name that somebody registered",
        arguments: [
            ("Origin", "https://evil.example", HTTPResponse.Status.forbidden), ("Origin", "null", .forbidden),
            ("Sec-Fetch-Site", "cross-site", .forbidden),
            ("Sec-Fetch-Site", "same-site", .forbidden), ("Sec-Fetch-Site", "none", .noContent), ("X-Nothing", "x", .noContent),
        ])
    func isForProgramsOnly(name: String, value: String, status: HTTPResponse.Status) async throws {
        let field = try #require(HTTPField.Name(name))
        try await fixture.runLive { client async throws -> Void in
            let response = try await client.executeRequest(
                uri: "/control/pdp/NorthCable", method: .post, headers: [.contentType: "text/plain", field: value],
                body: ByteBuffer(string: #"{"mode":"none"}"#))
            #expect(response.status == status)
        }
        for (authority, isLocal) in [
            ("127.0.0.1:8090", true), ("localhost:8090", true), ("[::1]:8090", true), ("sandbox:8090", true), ("evil.example:8090", false),
            ("127.0.0.1.evil.example", false),
        ] {
            #expect(LoopbackOnly.isNamedLocally(authority) == isLocal, "\(authority)")
        }
    }

    @Test func failsAsToldAndAsOftenAsTold() async throws {
        try await fixture.runLive { client async throws -> Void in
            #expect(try await Self.post(client, "/control/pdp/NorthCable", #"{"mode":"error","times":2}"#) == .noContent)
            #expect(try await Self.ask(client).status == .internalServerError)
            #expect(try await Self.ask(client).status == .internalServerError)
            #expect(try await Self.ask(client).status == .ok)
        }
    }

    @Test func answersBrokenJsonWhenTold() async throws {
        try await fixture.runLive { client async throws -> Void in
            #expect(try await Self.post(client, "/control/pdp/NorthCable", #"{"mode":"malformed"}"#) == .noContent)
            let response = try await Self.ask(client)
            #expect(response.status == .ok)
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(XacmlResponse.self, from: Data(buffer: response.body)) }
        }
    }

    @Test func answersLateWhenTold() async throws {
        try await fixture.runLive { client async throws -> Void in
            #expect(try await Self.post(client, "/control/pdp/NorthCable", #"{"delayMilliseconds":150}"#) == .noContent)
            let start = ContinuousClock.now
            #expect(try await Self.ask(client).status == .ok)
            #expect(ContinuousClock.now - start >= .milliseconds(150))
        }
    }

    @Test func resetsTheConnectionWhenTold() async throws {
        try await fixture.runLive { client async throws -> Void in
            #expect(try await Self.post(client, "/control/pdp/NorthCable", #"{"mode":"reset","times":1}"#) == .noContent)
            await #expect(throws: (any Error).self) { try await Self.ask(client) }
        }
    }

    /// Sends a question over a connection of its own and does not wait for the answer.
    private static func hang(_ client: any TestClientProtocol) async throws -> TestClient {
        #expect(try await post(client, "/control/pdp/NorthCable", #"{"mode":"hang","times":1}"#) == .noContent)
        let caller = TestClient(host: "127.0.0.1", port: try #require(client.port))
        caller.connect()
        let headers: HTTPFields = [.contentType: XacmlNames.mediaType]
        try await caller.executeAndDontWaitForResponse(
            .init("/pdp/NorthCable", method: .post, authority: "localhost", headers: headers, body: ByteBuffer(string: question))
        )
        try await wait { try await log(client).counters["pdp/NorthCable"] == 1 }
        return caller
    }

    private static func wait(_ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !condition() { try #require(ContinuousClock.now < end, "waited too long") }
    }

    @Test func hangsUntilTheCallerLeaves() async throws {
        try await fixture.runLive { client async throws -> Void in
            let caller = try await Self.hang(client)
            #expect(try await Self.log(client).entries.isEmpty)
            try? await caller.close(mode: .all)
            try await Self.wait { try await Self.log(client).entries.map(\.outcome) == ["abandoned"] }
            #expect(try await Self.ask(client).status == .ok)
        }
    }

    @Test(.timeLimit(.minutes(1))) func stopsAlthoughACallerHangs() async throws {
        let caller = try await fixture.runLive { client in try await Self.hang(client) }
        try? await caller.close(mode: .all)
    }

    @Test func setsTheLifeOfPermits() throws {
        #expect(try Disturbance(json: Array(#"{"reauthorizeSeconds":60}"#.utf8)).reauthorizeAfter == 60)
        #expect(try Disturbance(json: Array(#"{"reauthorizeSeconds":0}"#.utf8)).reauthorizeAfter == nil)
        #expect(try Disturbance(json: Array("{}".utf8)) == Disturbance())
    }

    @Test func countsAndDescribesRequestsUntilReset() async throws {
        try await fixture.runLive { client async throws -> Void in
            var browser = Browser(client)
            _ = try await browser.redirect(AuthnRequestText(issuedAt: fixture.clock.now()))
            _ = try await browser.get("/saml/NorthCable/sso")
            _ = try await Self.ask(client)
            let report = try await Self.log(client)
            #expect(report.counters == ["sso/NorthCable": 2, "pdp/NorthCable": 1])
            #expect(report.entries.map(\.outcome) == ["login-page", "refused", "Indeterminate"])
            #expect(report.entries[0].fields["requestor"] == "ACME1")
            #expect(report.entries[1].fields["reason"] == "bind.params")
            #expect(try await Self.post(client, "/control/reset", "") == .noContent)
            #expect(try await Self.log(client) == RequestLog.Report())
        }
    }

    @Test func shiftsTheClock() async throws {
        try await fixture.runLive { client async throws -> Void in
            #expect(try await Self.post(client, "/control/clock", #"{"offsetSeconds":400}"#) == .noContent)
            var browser = Browser(client)
            let early = try await browser.redirect(AuthnRequestText(issuedAt: fixture.clock.now()))
            #expect(early.text(id: "reason") == "req.stale")
            #expect(try await Self.post(client, "/control/reset", "") == .noContent)
            #expect(try await browser.redirect(AuthnRequestText(issuedAt: fixture.clock.now())).status == .ok)
        }
    }

    @Test(arguments: [
        ("/control/pdp/NorthCable", #"{"mode":"sleepy"}"#), ("/control/pdp/NorthCable", #"{"delay":1}"#), ("/control/pdp/NorthCable", "["),
        ("/control/pdp/NorthCable", #"{"delayMilliseconds":-1}"#), ("/control/clock", #"{"offsetSeconds":99999999}"#),
    ])
    func refusesAMessageItDoesNotUnderstand(uri: String, body: String) async throws {
        let status = try await fixture.runLive { client in try await Self.post(client, uri, body) }
        #expect(status == .badRequest)
    }

    @Test func answersOnlyCallersOnThisMachine() async throws {
        let status = try await fixture.run { client in
            try await client.executeRequest(uri: "/control/log", method: .get, headers: [:], body: nil).status
        }
        #expect(status == .forbidden)
    }

    @Test func isHealthy() async throws {
        let response = try await fixture.run { client in try await client.executeRequest(uri: "/healthz", method: .get, headers: [:], body: nil) }
        #expect(response.status == .ok)
    }

    @Test func servesItsFrontPageAndFiles() async throws {
        try await fixture.run { client async throws -> Void in
            let front = try await client.executeRequest(uri: "/", method: .get, headers: [:], body: nil)
            #expect(String(buffer: front.body).contains("/saml/LakeTel/metadata"))
            let style = try await client.executeRequest(uri: "/assets/sandbox.css", method: .get, headers: [:], body: nil)
            #expect(style.headers[.contentType] == "text/css; charset=utf-8")
            let missing = try await client.executeRequest(uri: "/assets/..%2Flogin.mustache", method: .get, headers: [:], body: nil)
            #expect(missing.status == .notFound)
        }
    }
}
