@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import EntitlementClient
import Foundation
import Testing

/// A streaming app on a device of an Apple Account.
struct AppleApp: Sendable {
    /// A value that is on the account, with its opt-in.
    struct OptIn: Sendable {
        let family: String
        let account: String
        let value: String
    }

    let device: Device
    let apple: StandInAppleAccount
    /// The app's address, sent in `X-Forwarded-For`: redeems are limited by address.
    let address: String

    /// A new device.
    /// - Parameter account: The name of an Apple Account; a new one unless given.
    static func make(_ requestor: String = "ACME1", account: String = UUID().uuidString) async throws -> AppleApp {
        let device = try await Device.make(requestor)
        let bundleID = requestor == "BRAVO" ? "example.bravo.tv" : "example.acme.tv"
        let standIn = StandInAppleAccount(
            exchange: device.cluster.exchange, address: ClusterAddresses(ports: device.cluster.ports).apple, account: account, bundleID: bundleID,
            device: device.id)
        try await standIn.register()
        return AppleApp(device: device, apple: standIn, address: "198.51.\(Int.random(in: 0...255)).\(Int.random(in: 1...254))")
    }

    /// Another device of the same Apple Account.
    func another() async throws -> AppleApp { try await .make(device.requestor, account: apple.account) }

    /// The person signs in with a code.
    /// - Returns: The person.
    @discardableResult
    func signIn(as person: String = AppleTrait.person()) async throws -> String {
        try await device.signIn(as: person)
        return person
    }

    /// Signs in, and puts a value on the account.
    static func optedIn(as person: String = AppleTrait.person()) async throws -> (app: AppleApp, optIn: OptIn) {
        let app = try await make()
        try await app.signIn(as: person)
        return (app, try await app.optIn())
    }

    /// After a sign-in: prompts, asks for a value, stores and confirms it.
    func optIn() async throws -> OptIn {
        let prompt = try await apple.requestAuthorization(.approve)
        let issued = try await issue()
        try #require(issued.status == 201, "\(issued.text)")
        let optIn = OptIn(
            family: try #require(issued.object["familyId"] as? String), account: try #require(issued.object["accountId"] as? String),
            value: try #require(issued.object["value"] as? String))
        try await apple.update(optIn.value, prompt)
        let confirmed = try await confirm(optIn.family)
        try #require(confirmed.status == 200 && confirmed.object["state"] as? String == "active", "\(confirmed.text)")
        return optIn
    }

    func issue(_ authorization: String = "granted", key: String = UUID().uuidString) async throws -> HTTPAnswer {
        try await post(
            "tokens", ["bundleId": apple.bundleID, "environment": apple.environment, "contextAuthorization": authorization], key: key)
    }

    func confirm(_ family: String, _ outcome: String = "stored") async throws -> HTTPAnswer {
        try await post("tokens/\(family)/stored", ["outcome": outcome])
    }

    func redeem(_ value: String, environment: String = "sandbox", key: String = UUID().uuidString) async throws -> HTTPAnswer {
        try await post("redeem", ["value": value, "bundleId": apple.bundleID, "environment": environment], key: key)
    }

    /// - Returns: The id of the session.
    @discardableResult
    func signInBy(_ value: String) async throws -> String {
        let answer = try await redeem(value)
        try #require(answer.status == 200, "\(answer.text)")
        return try #require(answer.object["sessionId"] as? String)
    }

    func optOut(_ family: String) async throws -> HTTPAnswer { try await post("tokens/revoke", ["familyId": family, "reason": "opt_out"]) }

    func list() async throws -> HTTPAnswer { try await device.cluster.send(call("GET", "/auto-signin/v1/\(device.requestor)/tokens")) }

    /// The opt-ins in the list.
    func families() async throws -> [[String: Any]] {
        let answer = try await list()
        try #require(answer.status == 200, "\(answer.text)")
        return try #require(answer.object["families"] as? [[String: Any]], "\(answer.text)")
    }

    /// The state of an opt-in in the list.
    func state(of family: String) async throws -> String? {
        try await families().first { $0["familyId"] as? String == family }?["state"] as? String
    }

    func flag(_ session: String) async throws -> HTTPAnswer { try await post("sessions/\(session)/flag", [:]) }

    /// A link to the devices page.
    func webLink() async throws -> String {
        let answer = try await post("web-link", [:])
        try #require(answer.status == 201, "\(answer.text)")
        return try #require(answer.object["url"] as? String)
    }

    /// Posts under `/auto-signin/v1`.
    func post(_ path: String, _ object: [String: String], key: String = UUID().uuidString) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await device.cluster.send(
            call("POST", "/auto-signin/v1/\(device.requestor)/\(path)").with {
                $0.headers["Idempotency-Key"] = key
                $0.headers["Content-Type"] = "application/json"
                $0.body = body
            })
    }

    /// A call with the headers of a device.
    func call(_ method: String, _ path: String) -> Call {
        let identifier = "fingerprint \(Data(device.id.utf8).base64EncodedString())"
        let headers = ["AP-Device-Identifier": identifier, "X-Forwarded-For": address]
        return Call(method, path, headers: device.headers.merging(headers) { $1 })
    }

    /// The app made with the client library, on this device; launched and configured.
    func launched(approves: Bool = true) async throws -> SimulatedDevice {
        let statement = try Client.statement(device.requestor == "BRAVO" ? "bravo-tv" : "acme-tv")
        let setup = DeviceSetup(
            exchange: device.cluster.exchange, gateway: device.cluster.gateway, requestor: device.requestor, statement: statement,
            apple: apple.address, bundleID: apple.bundleID)
        let settings = SimulatedDevice.Settings(id: device.id, appleAccount: apple.account, approves: { approves }, address: address)
        let launched = try SimulatedDevice(settings, on: setup)
        try await launched.client.configure(requestor: Requestor.ID(device.requestor))
        return launched
    }
}

extension SimulatedDevice {
    /// A person of the sandbox signs in with a code.
    func signIn(as person: String) async throws {
        let viewer = SimulatedViewer(self, provider: "NorthCable", .signsIn(person))
        _ = try await viewer.play { try await $0.authenticate(force: true, interaction: $1) }
    }

    func redeems() async throws -> Bool { try await client.redeemAutomaticSignIn() != nil }
}

/// A programmer's own account service (apple §4, scope `autosignin:owner`).
struct AppleBackend: Sendable {
    let cluster: TestCluster
    let accessToken: String

    static func make(_ application: String = "acme-backend") async throws -> AppleBackend {
        AppleBackend(cluster: try TestCluster.running(), accessToken: try await Client.register(application).accessToken())
    }

    func revokeAll(_ account: String, keeping session: String = "") async throws -> HTTPAnswer {
        try await post("accounts/\(account)/revoke", ["reason": "password_change", "keepSessionId": session])
    }

    func rotate(_ family: String) async throws -> HTTPAnswer { try await post("tokens/\(family)/rotate", ["reason": "risk"]) }

    func flag(_ session: String) async throws -> HTTPAnswer { try await post("sessions/\(session)/flag", [:]) }

    func post(_ path: String, _ object: [String: String], requestor: String = "ACME1") async throws -> HTTPAnswer {
        let headers = ["Authorization": "Bearer \(accessToken)", "Idempotency-Key": UUID().uuidString]
        return try await cluster.send(try .json("/auto-signin/v1/\(requestor)/\(path)", object, headers: headers))
    }
}
