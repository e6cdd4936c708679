public import EntitlementClient
public import Foundation
internal import Octets
internal import Synchronization

/// A device's single sign-on, played from a ``Scenario``. Keeps its state across requests, and can change between them.
public final class SimulatedPlatform: ProviderAccountPlatform {
    /// A request that the platform got.
    public enum Call: Sendable, Hashable {
        case access(prompting: Bool)
        case metadata(AccountMetadataRequest)
    }

    fileprivate struct State {
        var permission: AccountAccess
        var onPrompt: AccountAccess?
        var system: (provider: String, expires: Date)?
        var picker: [Scenario.Choice]
        var faults: [Scenario.Fault]
        var counts: [String: Int] = [:]
        var calls: [Call] = []
    }

    private let onboarded: Set<String>?
    private let clock: any ClientClock
    private let answers: any ProviderAnswers
    private let state: Mutex<State>

    /// - Parameters:
    ///   - clock: The client's clock, so that both have the same time.
    ///   - answers: Where the providers' signed answers come from.
    public init(_ scenario: Scenario, clock: any ClientClock, answers: any ProviderAnswers) {
        onboarded = scenario.onboarded.map { Set($0) }
        self.clock = clock
        self.answers = answers
        let now = clock.now
        state = Mutex(
            State(
                permission: AccountAccess(scenario: scenario.permission?.initial) ?? .notDetermined,
                onPrompt: AccountAccess(scenario: scenario.permission?.onPrompt),
                system: scenario.system.map { ($0.provider, now.addingTimeInterval($0.expiresIn)) }, picker: scenario.picker ?? [],
                faults: scenario.faults ?? []))
    }

    /// All requests so far.
    public var calls: [Call] { state.withLock { $0.calls } }

    // MARK: - What the person does in the settings

    /// Changes the app's permission to ask for the provider.
    public func setPermission(_ permission: AccountAccess) { state.withLock { $0.permission = permission } }
    /// Signs the device out at its provider.
    public func signOutInSettings() { state.withLock { $0.system = nil } }

    /// - Parameter expiresIn: Seconds; negative: the login has expired.
    public func signInInSettings(_ provider: String, expiresIn: Double = 86_400) {
        let expires = clock.now.addingTimeInterval(expiresIn)
        state.withLock { $0.system = (provider, expires) }
    }

    /// Puts a fault before those that are there.
    public func add(_ fault: Scenario.Fault) { state.withLock { $0.faults.insert(fault, at: 0) } }
    /// Removes all faults, those of the scenario too.
    public func removeFaults() { state.withLock { $0.faults = [] } }

    // MARK: - ProviderAccountPlatform

    public func accessStatus(prompting: Bool) async throws -> AccountAccess {
        try state.withLock { state in
            state.calls.append(.access(prompting: prompting))
            _ = try state.fault("access")
            if prompting, state.permission == .notDetermined, let answer = state.onPrompt { state.permission = answer }
            return state.permission
        }
    }

    public func metadata(_ request: AccountMetadataRequest, handler: any PlatformDialogHandler) async throws -> AccountMetadata {
        let now = clock.now
        let (other, system) = try state.withLock { state -> (String?, (provider: String, expires: Date)?) in
            state.calls.append(.metadata(request))
            let all = try state.fault("metadata")
            let own = request.verificationToken == nil ? nil : try state.fault("answer")
            guard state.permission == .granted else { throw PlatformError(.accessNotGranted) }
            return (own ?? all, state.system)
        }
        var account = system
        if request.isInterruptionAllowed, account.map({ now < $0.expires }) != true {
            account = try await showPicker(request, handler, now)
        }
        guard let account else { return AccountMetadata() }
        var metadata = AccountMetadata(providerIdentifier: other ?? account.provider, expires: account.expires)
        if request.verificationToken != nil, now < account.expires {
            metadata.attributeQueryResponse = try await answers.answer(to: request, at: account.provider)
        }
        return metadata
    }

    private func showPicker(
        _ request: AccountMetadataRequest, _ handler: any PlatformDialogHandler, _ now: Date
    ) async throws -> (provider: String, expires: Date)? {
        let choice = state.withLock { $0.picker.isEmpty ? Scenario.Choice(cancel: true) : $0.picker.removeFirst() }
        let picker = ProviderPicker()
        await handler.present(picker)
        let outcome = outcome(of: choice, request, handler, now)
        await handler.dismiss(picker)
        return try outcome.get()
    }

    private func outcome(
        of choice: Scenario.Choice, _ request: AccountMetadataRequest, _ handler: any PlatformDialogHandler, _ now: Date
    ) -> Result<(provider: String, expires: Date)?, PlatformError> {
        if choice.nothing == true { return .success(nil) }
        if choice.other == true { return .failure(PlatformError(.unsupportedProvider)) }
        if let code = choice.vsError { return .failure(PlatformError(PlatformError.Code(rawValue: code), message: "simulated \(code)")) }
        guard let provider = choice.pick else { return .failure(PlatformError(.userCancelled)) }
        let isKnown = onboarded?.contains(provider) ?? true
        guard isKnown, request.supportedProviders.contains(provider), handler.shouldAuthenticate(provider) else {
            return .failure(PlatformError(.unsupportedProvider, unsupportedProvider: provider))
        }
        let account = (provider: provider, expires: now.addingTimeInterval(choice.expired == true ? -1 : 86_400))
        state.withLock { $0.system = account }
        return .success(account)
    }
}

extension SimulatedPlatform.State {
    /// Counts a request, and does what a fault for it says.
    /// - Returns: The provider to name in the answer.
    fileprivate mutating func fault(_ place: String) throws -> String? {
        counts[place, default: 0] += 1
        guard let index = faults.firstIndex(where: { $0.at == place || $0.at == "\(place)#\(counts[place, default: 0])" }) else { return nil }
        let fault = faults[index]
        if let times = fault.times {
            faults[index].times = times - 1
            if times <= 1 { faults.remove(at: index) }
        }
        if let changed = AccountAccess(scenario: fault.permission) { permission = changed }
        if let code = fault.vsError { throw PlatformError(PlatformError.Code(rawValue: code), message: "simulated \(code)") }
        if let error = fault.error { throw PlatformError(nil, message: error) }
        return fault.provider
    }
}

extension AccountAccess {
    init?(scenario name: String?) {
        switch name {
        case "notDetermined": self = .notDetermined
        case "restricted": self = .restricted
        case "denied": self = .denied
        case "granted": self = .granted
        default: return nil
        }
    }
}

/// The source of the providers' signed answers for a simulated platform.
public protocol ProviderAnswers: Sendable {
    /// - Parameters:
    ///   - request: The app's request, with a verification token.
    ///   - provider: The platform's name of the provider.
    /// - Returns: `nil` when the provider gives no answer.
    /// - Throws: `PlatformError`, as the platform reports it to the app.
    func answer(to request: AccountMetadataRequest, at provider: String) async throws -> String?
}

/// Always the same answer; for tests against servers that do not check it.
public struct FixedAnswer: ProviderAnswers {
    private let text: String?

    /// - Parameter text: The answer; `nil`: the provider gives none.
    public init(_ text: String?) { self.text = text }

    public func answer(to request: AccountMetadataRequest, at provider: String) -> String? { text }
}

/// Answers that the sandbox's stand-in providers sign, so that a real server can verify them.
public struct SandboxAnswers: ProviderAnswers {
    private let address: URL
    private let account: String
    private let person: String
    private let flaw: String?
    private let transport: any HTTPTransport

    /// - Parameters:
    ///   - address: Base address of the stand-in Apple.
    ///   - account: Any name; devices with the same name share the stand-in's state.
    ///   - person: The sandbox's person at the provider.
    ///   - flaw: A mistake in the answer, see the sandbox's README.
    public init(address: URL, account: String, person: String = "ada", flaw: String? = nil, transport: any HTTPTransport) {
        (self.address, self.account, self.person, self.flaw, self.transport) = (address, account, person, flaw, transport)
    }

    public func answer(to request: AccountMetadataRequest, at provider: String) async throws -> String? {
        var state = ["access": JSONValue.string("granted"), "provider": .string(provider), "person": .string(person)]
        state["flaw"] = flaw.map { .string($0) }
        let set = try await transport.send(try message(.put, "platform/accounts/\(account)", state))
        guard set.status == 204 else { throw PlatformError(nil, message: "the stand-in Apple answered \(set.status) when an account was set") }
        let question: [String: JSONValue] = [
            "account": .string(account), "channelIdentifier": .string(request.channelIdentifier), "interruptionAllowed": false,
            "attributeNames": .array(request.attributeNames.map { .string($0) }),
            "verificationToken": request.verificationToken.map { .string($0) } ?? .null,
        ]
        let answer = try await transport.send(try message(.post, "platform/metadata", question))
        guard answer.status == 200, let metadata = try? JSONDecoder().decode(Answer.self, from: answer.body) else {
            throw PlatformError(nil, message: "the stand-in Apple answered \(answer.status)")
        }
        if let error = metadata.error { throw PlatformError(PlatformError.Code(rawValue: error.code), message: error.explanation ?? "") }
        return metadata.samlAttributeQueryResponse
    }

    private struct Answer: Decodable {
        struct Failure: Decodable {
            let code: Int
            let explanation: String?
        }

        let samlAttributeQueryResponse: String?
        let error: Failure?
    }

    private func message(_ method: HTTPRequest.Method, _ path: String, _ body: [String: JSONValue]) throws -> HTTPRequest {
        try HTTPRequest(
            method, address.appendingPathComponent(path), headers: [HTTPHeader("Content-Type", "application/json")], body: JSONEncoder().encode(body))
    }
}
