internal import Octets
public import EntitlementClient
public import Foundation

/// Automatic Sign-In of one device, played by the sandbox's stand-in Apple, which also plays the servers' side.
public struct SandboxAutoSignIn: AutoSignInPlatform {
    public let environment = AutoSignInEnvironment.sandbox
    public let hasPrompt = true
    private let address: URL
    private let account: String
    private let bundleID: String
    private let device: String
    private let approves: @Sendable () async -> Bool
    private let transport: any HTTPTransport

    /// - Parameters:
    ///   - address: Base address of the stand-in Apple.
    ///   - account: The Apple Account, any name.
    ///   - bundleID: The id of an app that the stand-in knows.
    ///   - device: Names the device at the stand-in.
    ///   - transport: Carries the requests to the stand-in.
    ///   - approves: The person's answer to the sheet, whenever it opens; false: dismisses it.
    public init(
        address: URL, account: String, bundleID: String, device: String, transport: any HTTPTransport,
        approves: @escaping @Sendable () async -> Bool = { true }
    ) {
        (self.address, self.account, self.bundleID, self.device) = (address, account, bundleID, device)
        (self.transport, self.approves) = (transport, approves)
    }

    public func token() async throws -> AutoSignInToken {
        let query = "device=\(Self.encoded(device))&environment=\(environment.rawValue)"
        let token = try await send(.get, "token?\(query)", nil, Token.self)
        return AutoSignInToken(value: token.value, authorization: try Self.authorization(token.authorization))
    }

    public func requestAuthorization() async throws -> AutoSignInContext {
        let answer = await approves() ? "approve" : "dismiss"
        let prompt = try await send(.post, "token/authorize", place(["answer": answer]), Prompt.self)
        return AutoSignInContext(authorization: try Self.authorization(prompt.authorization), platformContext: prompt.context)
    }

    public func update(_ value: String, context: AutoSignInContext) async throws {
        guard let text = context.platformContext as? String else { throw PlatformError(nil, message: "the context is another platform's") }
        _ = try await send(.post, "token/update", place(["value": value, "context": text]), Token.self)
    }

    public func delete() async throws {
        _ = try await send(.post, "token/delete", place([:]), Token.self)
    }

    private struct Token: Decodable {
        let value: String?
        let authorization: String
    }

    private struct Prompt: Decodable {
        let authorization: String
        let context: String
    }

    private func place(_ more: [String: String]) -> [String: String] {
        more.merging(["device": device, "environment": environment.rawValue]) { first, _ in first }
    }

    private func send<Answer: Decodable>(
        _ method: HTTPRequest.Method, _ call: String, _ body: [String: String]?, _ type: Answer.Type
    ) async throws -> Answer {
        let path = "_device/accounts/\(Self.encoded(account))/apps/\(Self.encoded(bundleID))/\(call)"
        guard let url = URL(string: path, relativeTo: address.appendingPathComponent(""))?.absoluteURL else {
            throw PlatformError(nil, message: "the stand-in's address cannot be used")
        }
        let content = try body.map { try JSONEncoder().encode($0) }
        let answer = try await transport.send(HTTPRequest(method, url, headers: [HTTPHeader("Content-Type", "application/json")], body: content))
        guard answer.status == 200 else { throw PlatformError(nil, message: "the stand-in Apple answered \(answer.status)") }
        return try JSONDecoder().decode(type, from: answer.body)
    }

    private static func authorization(_ name: String) throws -> AutoSignInAuthorization {
        switch name {
        case "notDetermined": .notDetermined
        case "granted": .granted
        case "denied": .denied
        default: throw PlatformError(nil, message: "the stand-in named an authorization that is not known")
        }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? text
    }
}
