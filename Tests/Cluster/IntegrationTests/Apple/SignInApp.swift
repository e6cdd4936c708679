@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// An app with Sign in with Apple on a device of an Apple Account.
struct SignInApp: Sendable {
    /// The values that Apple gave the app.
    struct Credential: Sendable {
        var identityToken: String
        var code: String?
        var nonce: String
        /// JSON of the first consent.
        var user: String?
    }

    let device: Device
    let account: String
    var bundleID = "example.acme.tv"
    let apple: StandInApple

    /// A new device; the Apple Account is new too unless given.
    static func make(_ account: String = UUID().uuidString, bundleID: String = "example.acme.tv") async throws -> SignInApp {
        let apple = try StandInApple.running()
        // Without caching, a change of the keys has an effect at once.
        try await apple.control("behaviour", ["keysMaxAgeSeconds": 0])
        return SignInApp(device: try await Device.make(), account: account, bundleID: bundleID, apple: apple)
    }

    /// Another app of the same Apple Account, on the same device.
    func other(_ bundleID: String) -> SignInApp { SignInApp(device: device, account: account, bundleID: bundleID, apple: apple) }

    /// Another device of the same Apple Account.
    func another() async throws -> SignInApp { try await .make(account, bundleID: bundleID) }

    func nonce() async throws -> String {
        let answer = try await post("nonce", ["clientId": bundleID])
        try #require(answer.status == 201, "\(answer.text)")
        return try #require(answer.object["nonce"] as? String)
    }

    /// The device's own sheet.
    /// - Parameter nonce: A fresh one unless given.
    func credential(nonce: String? = nil, _ more: [String: any Sendable] = ["scopes": ["name", "email"]]) async throws -> Credential {
        var used = nonce
        if used == nil { used = try await self.nonce() }
        let text = try #require(used)
        let answer = try await apple.send("POST", "/_device/accounts/\(account)/apps/\(bundleID)/signin", more.merging(["nonce": text]) { $1 })
        return try Self.credential(answer, nonce: text)
    }

    /// A token and a code with exactly this content.
    func ordered(_ order: [String: any Sendable], nonce: String? = nil) async throws -> Credential {
        var used = nonce
        if used == nil { used = try await self.nonce() }
        let text = try #require(used)
        let base: [String: any Sendable] = ["account": account, "clientId": bundleID, "nonce": text]
        return try Self.credential(try await apple.control("identity-tokens", base.merging(order) { $1 }), nonce: text)
    }

    private static func credential(_ answer: HTTPAnswer, nonce: String) throws -> Credential {
        try #require(answer.status == 200, "\(answer.text)")
        let user = try (answer.object["user"] as? [String: Any]).map {
            String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self)
        }
        return Credential(
            identityToken: try #require(answer.object["identityToken"] as? String), code: answer.object["code"] as? String, nonce: nonce, user: user)
    }

    /// Sends Apple's answer to the service.
    func send(
        _ credential: Credential, create: Bool = true, key: String = UUID().uuidString, to path: String = "signin",
        _ more: [String: any Sendable] = [:]
    ) async throws -> HTTPAnswer {
        var body: [String: any Sendable] = [
            "identityToken": credential.identityToken, "nonce": credential.nonce, "clientId": bundleID, "createAccount": create,
        ]
        body["code"] = credential.code
        if let user = credential.user.flatMap(Self.person) { body["user"] = user }
        return try await post(path, body.merging(more) { $1 }, key: key)
    }

    func send(ticket: String, create: Bool = true, key: String = UUID().uuidString, to path: String = "signin") async throws -> HTTPAnswer {
        try await post(path, ["ticket": ticket, "clientId": bundleID, "createAccount": create], key: key)
    }

    /// The whole way.
    func signIn(create: Bool = true) async throws -> HTTPAnswer { try await send(try await credential(), create: create) }

    /// The whole way.
    /// - Returns: The account.
    @discardableResult
    func signedIn() async throws -> String {
        let answer = try await signIn()
        try #require(answer.status == 200, "\(answer.text)")
        return try #require(answer.object["accountId"] as? String)
    }

    /// The opt-ins and links of the device's account; refused without a session.
    func status() async throws -> HTTPAnswer { try await device.cluster.send(call("GET", "/auto-signin/v1/\(device.requestor)/tokens")) }

    /// The account's links.
    func links() async throws -> [(id: String, state: String, isMailAllowed: Bool)] {
        let links = try #require(try await status().object["appleLinks"] as? [[String: Any]])
        return links.map { ($0["linkId"] as? String ?? "", $0["state"] as? String ?? "", $0["mailAllowed"] as? Bool ?? false) }
    }

    func unlink() async throws -> HTTPAnswer {
        try await device.cluster.send(call("DELETE", "/apple/v1/\(device.requestor)/link").with { $0.headers["Idempotency-Key"] = UUID().uuidString })
    }

    /// The page that greets the person by name.
    func devicesPage() async throws -> String {
        let body = call("POST", "/auto-signin/v1/\(device.requestor)/web-link").with {
            $0.headers["Idempotency-Key"] = UUID().uuidString
            $0.headers["Content-Type"] = "application/json"
            $0.body = "{}"
        }
        let link = try #require(try await device.cluster.send(body).object["url"] as? String)
        var browser = Browser(exchange: device.cluster.exchange)
        let opened = try await browser.submit(try browser.form(try await browser.visit(link), at: link))
        try #require(opened.status == 302)
        return try await browser.visit("\(device.cluster.gateway)/devices").text
    }

    func post(_ path: String, _ object: [String: any Sendable], key: String = UUID().uuidString) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await device.cluster.send(
            call("POST", "/apple/v1/\(device.requestor)/\(path)").with {
                $0.headers["Idempotency-Key"] = key
                $0.headers["Content-Type"] = "application/json"
                $0.body = body
            })
    }

    private func call(_ method: String, _ path: String) -> Call {
        let identifier = ["AP-Device-Identifier": "fingerprint \(Data(device.id.utf8).base64EncodedString())"]
        return Call(method, path, headers: device.headers.merging(identifier) { $1 })
    }

    /// `{"name":{"firstName","lastName"},"email"}` as Apple gave it.
    private static func person(_ json: String) -> [String: any Sendable]? {
        struct Person: Decodable {
            struct Name: Decodable {
                let firstName: String?
                let lastName: String?
            }

            let name: Name?
            let email: String?
        }
        guard let person = try? JSONDecoder().decode(Person.self, from: Data(json.utf8)) else { return nil }
        var object: [String: any Sendable] = [:]
        object["email"] = person.email
        if let name = person.name {
            var parts: [String: any Sendable] = [:]
            parts["firstName"] = name.firstName
            parts["lastName"] = name.lastName
            object["name"] = parts
        }
        return object
    }
}

extension HTTPAnswer {
    /// `code` of an error.
    var code: String? { object["code"] as? String }
    var accountID: String? { object["accountId"] as? String }
    var ticket: String? { object["ticket"] as? String }

    func isRefused(_ status: Int, _ code: String) -> Bool { self.status == status && self.code == code }
}
