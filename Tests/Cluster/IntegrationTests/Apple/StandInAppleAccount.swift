@testable import ClusterCommands
@testable import CommandKit
import Foundation
import TextEncodings

/// The token of an app on an Apple Account, as a device of that account sees it (apple §1.1); played by the sandbox.
struct StandInAppleAccount: Sendable {
    /// The token that the device reads.
    struct Token: Sendable {
        let value: String?
        /// `granted`, `denied` or `notDetermined`.
        let authorization: String
    }

    /// The result of the prompt.
    struct Prompt: Sendable {
        let authorization: String
        let context: String
    }

    /// The person's answer to the sheet.
    enum Answer: String, Sendable {
        case approve
        case dismiss
        case refuse
    }

    let exchange: HTTPExchange
    /// Base URL of the stand-in Apple.
    let address: String
    let account: String
    let bundleID: String
    /// Name of the device at the stand-in.
    let device: String
    /// Development builds have Apple's sandbox (apple §1.3).
    let environment = "sandbox"

    init(exchange: HTTPExchange, address: String, account: String, bundleID: String, device: String) {
        (self.exchange, self.address) = (exchange, address)
        (self.account, self.bundleID, self.device) = (account, bundleID, device)
    }

    /// Describes the device to the stand-in.
    /// - Parameter defaultAccount: The Apple Account of the system, where it is another one.
    func register(defaultAccount: String? = nil) async throws {
        var state = ["platform": "tvOS"]
        state["defaultAccount"] = defaultAccount
        let answer = try await send("PUT", "/_device/devices/\(FormEncoding.encode(device))", state)
        guard answer.status == 204 else { throw failure(answer, "naming the device") }
    }

    /// `autoSignInToken`.
    func token() async throws -> Token {
        let query = FormEncoding.encode([("device", device), ("environment", environment)])
        let answer = try await exchange.send("GET", "\(address)\(path)/token?\(query)")
        guard answer.status == 200, let authorization = answer.object["authorization"] as? String else {
            throw failure(answer, "reading the account's token")
        }
        return Token(value: answer.object["value"] as? String, authorization: authorization)
    }

    /// `requestAutoSignInAuthorization()`.
    func requestAuthorization(_ choice: Answer) async throws -> Prompt {
        let answer = try await send("POST", "\(path)/token/authorize", place(["answer": choice.rawValue]))
        guard answer.status == 200, let authorization = answer.object["authorization"] as? String, let context = answer.object["context"] as? String
        else { throw failure(answer, "asking for the opt-in") }
        return Prompt(authorization: authorization, context: context)
    }

    /// `updateAutoSignInToken(_:updateContext:)`.
    func update(_ value: String, _ prompt: Prompt) async throws {
        let answer = try await send("POST", "\(path)/token/update", place(["value": value, "context": prompt.context]))
        guard answer.status == 200 else { throw failure(answer, "storing the value") }
    }

    /// `deleteAutoSignInToken()`.
    func delete() async throws {
        let answer = try await send("POST", "\(path)/token/delete", place([:]))
        guard answer.status == 200 else { throw failure(answer, "deleting the value") }
    }

    private var path: String { "/_device/accounts/\(FormEncoding.encode(account))/apps/\(FormEncoding.encode(bundleID))" }

    private func place(_ more: [String: String]) -> [String: String] {
        more.merging(["device": device, "environment": environment]) { first, _ in first }
    }

    private func send(_ method: String, _ path: String, _ object: [String: String]) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await exchange.send(method, address + path, headers: [("Content-Type", "application/json")], body: body)
    }

    private func failure(_ answer: HTTPAnswer, _ what: String) -> CommandFailure {
        // The answer may hold a value.
        CommandFailure("\(what) at the stand-in Apple was answered \(answer.status)")
    }
}
