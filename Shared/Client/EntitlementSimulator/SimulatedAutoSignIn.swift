public import EntitlementClient
public import Foundation
internal import Octets
internal import Synchronization

/// An app's value on an Apple Account, seen by all its devices (apple §1.1, rows A1 to A11).
public final class SimulatedAppleAccount: Sendable {
    fileprivate struct State {
        var value: String?
        var authorization = AutoSignInAuthorization.notDetermined
        var spentContexts: Set<Int> = []
        var contexts = 0
    }

    fileprivate let state = Mutex(State())

    /// An account without a value, for which no person has decided yet.
    public init() {}

    /// The token that a device reads.
    public var token: AutoSignInToken { state.withLock { AutoSignInToken(value: $0.value, authorization: $0.authorization) } }

    /// Sets what devices read from now on: what the servers tell Apple, or what a test needs.
    /// - Parameters:
    ///   - value: `nil`: the account has none.
    ///   - authorization: The person's decision for the app.
    public func set(_ value: String?, _ authorization: AutoSignInAuthorization) {
        state.withLock { ($0.value, $0.authorization) = (value, authorization) }
    }
}

/// Automatic Sign-In of one device of a ``SimulatedAppleAccount``.
public final class SimulatedAutoSignIn: AutoSignInPlatform {
    /// The person's answer to the sheet.
    public enum Answer: String, Sendable, Hashable, CaseIterable {
        case granted
        case denied
        case dismissed
    }

    /// The fault of the platform.
    public enum Fault: Sendable, Hashable, CaseIterable {
        case read
        case prompt
        case update
        case delete
    }

    /// The calls of the device, without values.
    public enum Call: Sendable, Hashable {
        case read
        case prompt
        case update
        case delete
    }

    public let environment = AutoSignInEnvironment.sandbox
    public let hasPrompt: Bool
    private let account: SimulatedAppleAccount
    private let answer: Answer
    private let local = Mutex((faults: Set<Fault>(), calls: [Call]()))

    /// - Parameters:
    ///   - account: The device's Apple Account; devices of one account share its value.
    ///   - answer: The person's answer to the opt-in sheet each time.
    ///   - hasPrompt: False for a device that cannot show the sheet.
    public init(account: SimulatedAppleAccount, answer: Answer = .granted, hasPrompt: Bool = true) {
        (self.account, self.answer, self.hasPrompt) = (account, answer, hasPrompt)
    }

    public var calls: [Call] { local.withLock { $0.calls } }
    /// Replaces the faults; each call of a kind in the set throws.
    public func setFaults(_ faults: Set<Fault>) { local.withLock { $0.faults = faults } }

    public func token() throws -> AutoSignInToken {
        try note(.read, .read)
        return account.token
    }

    public func requestAuthorization() throws -> AutoSignInContext {
        try note(.prompt, .prompt)
        return account.state.withLock { state in
            switch answer {
            case .granted: state.authorization = .granted
            case .denied: state.authorization = .denied
            case .dismissed: break
            }
            state.contexts += 1
            let given: AutoSignInAuthorization = answer == .granted ? .granted : answer == .denied ? .denied : .notDetermined
            return AutoSignInContext(authorization: given, platformContext: state.contexts)
        }
    }

    /// - Throws: `PlatformError` when the context was not granted or has been used.
    public func update(_ value: String, context: AutoSignInContext) throws {
        try note(.update, .update)
        try account.state.withLock { state in
            guard context.authorization == .granted, let id = context.platformContext as? Int, state.spentContexts.insert(id).inserted else {
                throw PlatformError(nil, message: "the context was not granted, or was used before")
            }
            (state.value, state.authorization) = (value, .granted)
        }
    }

    public func delete() throws {
        try note(.delete, .delete)
        account.state.withLock { ($0.value, $0.authorization) = (nil, .notDetermined) }
    }

    private func note(_ call: Call, _ fault: Fault) throws {
        try local.withLock { local in
            local.calls.append(call)
            if local.faults.contains(fault) { throw PlatformError(nil, message: "simulated") }
        }
    }
}

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
