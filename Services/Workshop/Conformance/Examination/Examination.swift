internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Frames
public import PeerDoubles
internal import Synchronization
public import Transport

/// One requirement while it is tried: opens connections, and records their last frames for the report.
final class Examination: Sendable {
    /// Time limit for an answer that is due at once; generous, because the machine may be busy.
    @TaskLocal static var patience: Duration = .seconds(8)

    private struct Transcript {
        var sent: [String] = []
        var came: [String] = []
    }

    /// Lines of the transcript that a report shows.
    private static let shown = 3

    let subject: Subject
    private let transcript = Mutex(Transcript())

    init(_ subject: Subject) { self.subject = subject }

    func sent(_ text: String) {
        transcript.withLock { transcript in
            transcript.sent.append(text)
            transcript.came.removeAll()
            if transcript.sent.count > Self.shown { transcript.sent.removeFirst() }
        }
    }

    func came(_ text: String) {
        transcript.withLock { transcript in
            transcript.came.append(text)
            if transcript.came.count > Self.shown { transcript.came.removeFirst() }
        }
    }

    var lastSent: [String] { transcript.withLock { $0.sent } }
    var lastCame: [String] { transcript.withLock { $0.came } }

    // MARK: Connections

    /// A new connection, before any hello.
    func connect() async throws -> WireProbe { try await WireProbe(self, as: subject.caller) }

    /// A connection after the exchange of hellos.
    func greet(maxFrameBytes: UInt32 = 16 * 1024 * 1024) async throws -> Conversation {
        try await Conversation(try await connect(), maxFrameBytes: maxFrameBytes)
    }

    /// Ends the implementation and starts it again; on return it serves.
    /// - Throws: `NotApplicable` when the examiner cannot.
    func restart() async throws {
        guard let restart = subject.restart else { throw NotApplicable("the examiner cannot restart the implementation (--restart)") }
        try await restart()
        let end = ContinuousClock.now + .seconds(30)
        while let problem = await subject.problem() {
            guard ContinuousClock.now < end else { throw Unmet("a service that serves, 30 s after its restart", came: problem) }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    // MARK: Peers

    /// - Throws: `NotApplicable` when the examiner plays none.
    func peers() throws -> PlayedPeers {
        guard let peers = subject.peers else { throw NotApplicable("the examiner does not play this implementation's peers (--peers-port)") }
        return PlayedPeers(doubles: peers)
    }
}

/// The peers that the examiner plays.
struct PlayedPeers: Sendable {
    let doubles: PeerDoubles

    /// Time limit for a service to apply a new version of the catalogue.
    private static var updatePatience: Duration { Examination.patience * 5 / 4 }

    var configuration: Configuration { doubles.config.configuration }

    /// Changes the catalogue, waits until the service uses the change, does the work, and restores the catalogue.
    /// - Parameters:
    ///   - isThere: True when the service already uses the changed catalogue.
    /// - Throws: `Unmet` when it does not in time; what the work throws.
    func withCatalogue(
        _ change: (inout Configuration) -> Void, until isThere: () async throws -> Bool, _ work: () async throws -> Void
    ) async throws {
        let before = configuration
        var changed = before
        change(&changed)
        changed.version += 1
        try doubles.config.publish(changed)
        let outcome: Result<Void, any Error>
        do {
            try await wait("what the changed catalogue says, within \(Self.updatePatience)", isThere)
            try await work()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        var after = before
        after.version = configuration.version + 1
        try doubles.config.publish(after)
        try outcome.get()
        try await wait("what the catalogue says that was set back, within \(Self.updatePatience)") { try await !isThere() }
    }

    private func wait(_ expected: String, _ isThere: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + Self.updatePatience
        while try await !isThere() {
            guard ContinuousClock.now < end else { throw Unmet(expected, came: "answers as before") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

/// The implementation under examination, and what is available to the examiner.
public struct Subject: Sendable {
    public var service: ExaminedService
    public var host: String
    public var port: Int
    /// The examiner's identity: a caller that is on the service's lists.
    public var caller: TlsFiles
    /// A caller of the same authority that is on none of them; `nil`: not available.
    public var stranger: TlsFiles?
    /// A caller of another authority.
    public var foreigner: TlsFiles?
    /// The peers that the implementation calls, played by the examiner; `nil` where it calls none.
    public var peers: PeerDoubles?
    /// Time limit for an answer that is due at once.
    public var patience: Duration = .seconds(8)
    /// Makes a Config service publish another version; `nil`: the examiner cannot.
    public var change: (@Sendable () async throws -> Void)?
    /// Ends the implementation's process without a warning and starts it again; `nil`: the examiner cannot.
    public var restart: (@Sendable () async throws -> Void)?

    public init(service: ExaminedService, host: String, port: Int, caller: TlsFiles) {
        self.service = service
        self.host = host
        self.port = port
        self.caller = caller
    }

    /// The name that its certificate must have.
    var certificateName: String { service.certificateName }
}

extension Subject {
    /// Returns why the implementation does not take calls; `nil`: it does.
    public func problem() async -> String? {
        let examination = Examination(self)
        do {
            let conversation = try await examination.greet()
            let report = try await conversation.call(HealthMethods.check, CheckHealthRequest())
            await conversation.probe.close()
            return report.status == .serving ? nil : VisibleText.text("it is not serving: \(report.reason)")
        } catch let unmet as Unmet {
            return VisibleText.text("expected \(unmet.expected); came \(unmet.came)")
        } catch {
            return VisibleText.text("\(error)")
        }
    }
}

/// A service with a contract that can be examined.
public enum ExaminedService: String, CaseIterable, Sendable {
    case config
    case authentication
    case authorization
    case autosignin

    /// DNS name in its certificate.
    public var certificateName: String { "\(rawValue).boxoffice" }

    /// The services that it calls.
    public var peers: [PeerDoubles.Peer] {
        switch self {
        case .config: []
        case .authentication: [.config]
        case .authorization, .autosignin: [.config, .authentication]
        }
    }

    /// Full names of the RPC services that it must offer, beside those that every service offers.
    var rpcServices: [String] {
        switch self {
        case .config: [ConfigMethods.service]
        case .authentication:
            [AuthenticationMethods.service, SessionsMethods.service, LoginsMethods.service, AuthenticationOperationsMethods.service]
        case .authorization: [AuthorizationMethods.service]
        case .autosignin: [AutomaticSignInMethods.service, SignInWithAppleMethods.service, AutoSignInOperationsMethods.service]
        }
    }

    /// A method with a string as field 1 of its request.
    var methodWithText: (service: String, method: String) {
        switch self {
        case .config: (ConfigMethods.service, ConfigMethods.issueSoftwareStatement.name)
        case .authentication: (AuthenticationMethods.service, AuthenticationMethods.verifyAccessToken.name)
        case .authorization: (AuthorizationMethods.service, AuthorizationMethods.preauthorizeByCode.name)
        case .autosignin: (AutomaticSignInMethods.service, AutomaticSignInMethods.openWebLink.name)
        }
    }

    /// The requirements of callers before any method of the service's own can work: connections, calls, streams, health. In the order of the report.
    public var minimalRequirements: [Requirement] {
        let ids = Set(WireRequirements.minimal)
        return requirements.filter { ids.contains($0.id) }
    }

    /// Everything that is required of an implementation, in the order of the report.
    public var requirements: [Requirement] {
        switch self {
        case .config: WireRequirements.all + ConfigRequirements.all
        case .authentication: WireRequirements.all + AuthenticationRequirements.all
        case .authorization: WireRequirements.all + AuthorizationRequirements.all
        case .autosignin: WireRequirements.all + AutoSignInRequirements.all
        }
    }
}
