@testable import ClusterCommands
@testable import CommandKit
import Foundation
import TextEncodings

/// Apple's sign-in framework on a simulated device, as the sandbox plays it (rest-v1 §4.4).
struct StandInPlatform: Sendable {
    /// The SAML issuer that apps name as their channel.
    static let channel = "https://saml.sp.auth.adobe.com"

    /// The metadata that the framework gives an app.
    struct Metadata: Sendable {
        var provider: String?
        var authenticatedUntil: Date?
        /// The MVPD's SAML response, as text.
        var response: String?
        /// `VSError.Code`.
        var error: Int?
        /// The provider that the person chose and the framework cannot sign in.
        var unsupportedProvider: String?
    }

    let exchange: HTTPExchange
    /// Base URL of the stand-in Apple.
    let address: String
    /// Which simulated Apple account the device is signed in with.
    let account: String

    /// Sets the state of the account; for the keys see the sandbox's README.
    func set(_ state: [String: Any]) async throws {
        let answer = try await send("PUT", "/platform/accounts/\(FormEncoding.encode(account))", state)
        guard answer.status == 204 else { throw failure(answer, "setting up the account") }
    }

    /// The app's permission to ask: `granted`, `denied`, `notDetermined` or `restricted`.
    func access() async throws -> String {
        let answer = try await send("POST", "/platform/access", ["account": account])
        guard answer.status == 200, let access = answer.object["access"] as? String else { throw failure(answer, "asking for access") }
        return access
    }

    /// - Parameters:
    ///   - interruptionAllowed: True when the person may be asked.
    ///   - supported: The providers that the app offers, by the platform's names.
    ///   - attributes: The attributes of the person to request from the MVPD.
    ///   - token: From the profile request; `nil`: the MVPD is not asked.
    func metadata(
        interruptionAllowed: Bool, supported: [String]? = nil, attributes: [String] = [], token: String? = nil
    ) async throws -> Metadata {
        var question: [String: Any] = ["account": account, "channelIdentifier": Self.channel, "interruptionAllowed": interruptionAllowed]
        if let supported { question["supportedProviders"] = supported }
        if let token { (question["verificationToken"], question["attributeNames"]) = (token, attributes) }
        let answer = try await send("POST", "/platform/metadata", question)
        guard answer.status == 200 else { throw failure(answer, "asking for the account's metadata") }
        let (object, error) = (answer.object, answer.object["error"] as? [String: Any])
        return Metadata(
            provider: object["accountProviderIdentifier"] as? String,
            authenticatedUntil: (object["authenticationExpirationDate"] as? Double).map { Date(timeIntervalSince1970: $0 / 1000) },
            response: object["samlAttributeQueryResponse"] as? String, error: error?["code"] as? Int,
            unsupportedProvider: error?["unsupportedProviderIdentifier"] as? String)
    }

    /// The platform's identity token for the user of the device (rest-v1 §2.6).
    func identityToken(_ order: [String: Any]) async throws -> String {
        let answer = try await send("POST", "/platform/identity-token", order)
        guard answer.status == 200, let token = answer.object["token"] as? String else { throw failure(answer, "asking for an identity token") }
        return token
    }

    /// The response as apps send it: blanks and tabs collapsed, line breaks removed, trimmed, Base64 (rest-v1 §3.12).
    static func encoded(_ response: String) -> String {
        let line = response.filter { !$0.isNewline }
        let text = line.replacing(/[ \t]+/, with: " ").trimmingCharacters(in: .whitespaces)
        return Data(text.utf8).base64EncodedString()
    }

    private func send(_ method: String, _ path: String, _ object: [String: Any]) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await exchange.send(method, address + path, headers: [("Content-Type", "application/json")], body: body)
    }

    private func failure(_ answer: HTTPAnswer, _ what: String) -> CommandFailure {
        CommandFailure("\(what) at the stand-in Apple was answered \(answer.status)", advice: answer.text)
    }
}
