import Clocks
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import ManualClocks
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The stand-in vendor on a socket, and an application that calls it.
struct VendorParty: Sendable {
    typealias Reply = AppleParty.Reply

    static let redirect = "https://login.acme.example/return"
    static let device = "dev-7f3a"

    let client: any TestClientProtocol
    let clock: ManualClock

    static func run(_ settings: String = "", _ test: @Sendable (VendorParty) async throws -> Void) async throws {
        var logger = Logger(label: "sandbox")
        logger.logLevel = .critical
        let clock = ManualClock(Timestamp(seconds: 1_900_000_000))
        let extra =
            #", "upstream": {"listen": {"address": "127.0.0.1", "port": 0}, "certificate": "stranger.crt", "key": "stranger.key"\#(settings)}"#
        let sandbox = try await Sandbox(settings: try Fixture.read(Fixture.settings(extra: extra)), clock: clock, logger: logger)
        try await (try #require(sandbox.vendorApplication())).test(.live) { client in
            try await test(VendorParty(client: client, clock: clock))
        }
    }

    // MARK: Calls

    func send(_ method: HTTPRequest.Method, _ uri: String, _ headers: [String: String] = [:], _ body: String? = nil) async throws -> Reply {
        var fields: HTTPFields = [:]
        for (name, value) in headers { fields[try #require(HTTPFields.Element.Name(name))] = value }
        let response = try await client.executeRequest(uri: uri, method: method, headers: fields, body: body.map { ByteBuffer(string: $0) })
        return Reply(status: response.status.code, headers: response.headers, text: String(buffer: response.body))
    }

    func get(_ uri: String, _ headers: [String: String] = [:]) async throws -> Reply { try await send(.get, uri, headers) }

    func form(_ uri: String, _ headers: [String: String], _ fields: [(String, String)]) async throws -> Reply {
        let body = fields.map { "\($0)=\(FormFields.encoded($1))" }.joined(separator: "&")
        return try await send(.post, uri, headers.merging(["Content-Type": "application/x-www-form-urlencoded"]) { $1 }, body)
    }

    func json(_ uri: String, _ headers: [String: String], _ body: String) async throws -> Reply {
        try await send(.post, uri, headers.merging(["Content-Type": "application/json;charset=utf-8"]) { $1 }, body)
    }

    // MARK: Control

    @discardableResult
    func control(_ method: HTTPRequest.Method, _ path: String, _ json: String? = nil) async throws -> Reply {
        let reply = try await send(method, "/control/\(path)", [:], json)
        try #require((200...204).contains(reply.status), "\(reply.text)")
        return reply
    }

    func calls(_ operation: String) async throws -> Int {
        let counters = try await control(.get, "log").json["counters"] as? [String: [String: Any]]
        return counters?[operation]?["calls"] as? Int ?? 0
    }

    func fault(_ operation: String, _ fault: String) async throws {
        try await control(.post, "faults", #"{"operations": ["\#(operation)"], "faults": [\#(fault)]}"#)
    }

    // MARK: Clients

    struct App: Sendable {
        let id: String
        let secret: String
        let token: String

        var bearer: [String: String] { ["Authorization": "Bearer \(token)"] }

        /// With the header of a device.
        func on(_ device: String = VendorParty.device, _ more: [String: String] = [:]) -> [String: String] {
            let identifier = "fingerprint \(Data(device.utf8).base64EncodedString())"
            return bearer.merging(["AP-Device-Identifier": identifier]) { $1 }.merging(more) { $1 }
        }
    }

    func statement(_ id: String = "acme-v2") async throws -> String {
        try #require(try await control(.get, "statements").list.first { $0["id"] as? String == id }?["text"] as? String)
    }

    func register(_ statement: String) async throws -> Reply {
        try await json("/o/client/register", [:], #"{"software_statement": "\#(statement)"}"#)
    }

    func token(_ id: String, _ secret: String) async throws -> Reply {
        try await form("/o/client/token", [:], [("client_id", id), ("client_secret", secret), ("grant_type", "client_credentials")])
    }

    func app(_ statement: String = "acme-v2") async throws -> App {
        let registered = try await register(try await self.statement(statement))
        let (id, secret) = (try #require(registered["client_id"]), try #require(registered["client_secret"]))
        return App(id: id, secret: secret, token: try #require(try await token(id, secret)["access_token"]))
    }

    // MARK: Journeys

    func session(
        _ app: App, mvpd: String? = "CoastCable", domain: String? = "acme.example", redirect: String? = redirect, device: String = device,
        sp: String = "ACME1", headers: [String: String] = [:]
    ) async throws -> Reply {
        let fields = [("mvpd", mvpd), ("domainName", domain), ("redirectUrl", redirect)].compactMap { name, value in value.map { (name, $0) } }
        return try await form("/api/v2/\(sp)/sessions", app.on(device, headers), fields)
    }

    /// The page that the browser gets at the end of a login.
    func logIn(_ url: String, as person: String = "ada", action: String = "sign-in") async throws -> Reply {
        let start = try await get(url)
        let page = try await get(try #require(start.headers[.location]))
        let state = try #require(Browser.Page(status: .ok, html: page.text).field("state"))
        let mvpd = try #require(start.headers[.location]?.split(separator: "/").dropFirst().first)
        return try await form(
            "/mvpd/\(mvpd)/sign-in", [:], [("state", state), ("username", person), ("password", person), ("action", action)])
    }

    /// Signs in, and returns the code.
    @discardableResult
    func signIn(
        _ app: App, as person: String = "ada", mvpd: String = "CoastCable", device: String = device, sp: String = "ACME1",
        headers: [String: String] = [:]
    ) async throws -> String {
        let redirect = sp == "ACME1" ? Self.redirect : "https://login.bravo.example/return"
        let session = try await session(app, mvpd: mvpd, redirect: redirect, device: device, sp: sp, headers: headers)
        let answer = try await logIn(try #require(session["url"]), as: person)
        try #require(answer.status == 302 && answer.headers[.location] == redirect, "\(answer.text)")
        return try #require(session["code"])
    }

    func profiles(_ app: App, _ path: String = "", device: String = device, headers: [String: String] = [:], sp: String = "ACME1") async throws
        -> [String: [String: Any]]
    {
        let reply = try await get("/api/v2/\(sp)/profiles\(path)", app.on(device, headers))
        return try #require(reply.json["profiles"] as? [String: [String: Any]], "\(reply.text)")
    }

    func decide(
        _ app: App, _ resources: [String] = ["ACME1-NEWS"], mvpd: String = "CoastCable", kind: String = "authorize", device: String = device,
        headers: [String: String] = [:]
    ) async throws -> Reply {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: ["resources": resources]), as: UTF8.self)
        return try await json("/api/v2/ACME1/decisions/\(kind)/\(mvpd)", app.on(device, headers), body)
    }

    /// The first decision of an answer.
    func decision(_ reply: Reply) throws -> [String: Any] { try #require((reply.json["decisions"] as? [[String: Any]])?.first, "\(reply.text)") }

    func item(_ decision: [String: Any]) -> String? { (decision["error"] as? [String: Any])?["code"] as? String }
}
