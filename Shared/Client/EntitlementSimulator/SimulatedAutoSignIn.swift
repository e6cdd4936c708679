internal import Octets
public import EntitlementClient
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
