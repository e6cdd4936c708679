internal import AuthenticationCore
internal import BridgeClient
internal import Clocks
internal import Contracts
internal import Faults
internal import OutboundHttp
internal import Synchronization

/// How one sign-in goes through an upstream, for whoever asks why it failed (bridge §14.1). Nothing in it is personal, and none of it is stored.
final class UpstreamJourney: Sendable {
    /// The sign-in that the calls of this task belong to.
    @TaskLocal static var current: UpstreamJourney?
    /// Trace id of the browser's return, while that is being answered.
    @TaskLocal static var arrival: String?

    /// A call to upstream.
    struct Call: Sendable {
        let operation: BridgeOperation
        let failure: BridgeFailure?
        let status: Int?
        let trace: String
        let milliseconds: Int64
        /// It was not made at all, as too many before it failed.
        let isBreakerOpen: Bool
    }

    enum End: Sendable {
        case signedIn
        /// The person's code was deleted during the login.
        case codeGone
        /// Upstream knows nobody who signed in.
        case declined
        /// A call failed, or an answer could not be used.
        case failed(String)
    }

    /// The parties of the sign-in.
    struct Parties: Sendable {
        let record: RegistrationRecordID
        let requestor: String
        let mvpd: String
        let upstream: String
        let serviceProvider: String
        let theirMvpd: String
        let isOwnReturn: Bool
    }

    struct State: Sendable {
        var parties: Parties?
        var traces: [String]
        var calls: [Call] = []
        /// A browser was sent to upstream.
        var isSent = false
        /// It came back to our own page.
        var isBack = false
        var profiles: [Profile]?
        var end: End?
        var endedAt: Timestamp
        /// Another copy of the service began it.
        var isForeign = false
    }

    struct Profile: Sendable {
        let mvpd: String
        let kind: String
        let attributes: [String]
    }

    private static let mostCalls = 64
    private static let mostTraces = 4
    private static let mostNames = 40

    private let state: Mutex<State>

    init(trace: String, _ parties: Parties? = nil, isForeign: Bool = false, now: Timestamp) {
        state = Mutex(State(parties: parties, traces: trace.isEmpty ? [] : [trace], endedAt: now, isForeign: isForeign))
    }

    var now: State { state.withLock { $0 } }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    func add(trace: String) {
        state.withLock { state in
            guard !trace.isEmpty, !state.traces.contains(trace), state.traces.count < Self.mostTraces else { return }
            state.traces.append(trace)
        }
    }

    /// A call of the task's sign-in came to an end.
    /// - Parameter answer: `nil`: there is none.
    static func note(
        _ operation: BridgeOperation, _ result: Result<Void, BridgeFailure>, _ answer: OutboundAnswer?, _ time: Duration, isBreakerOpen: Bool = false
    ) {
        guard let current else { return }
        var failure: BridgeFailure?
        if case .failure(let reason) = result { failure = reason }
        let call = Call(
            operation: operation, failure: failure, status: answer?.status, trace: answer.map { UpstreamTrace.of($0) } ?? "",
            milliseconds: time.wholeMilliseconds, isBreakerOpen: isBreakerOpen)
        current.state.withLock { state in
            if state.calls.count >= mostCalls { state.calls.removeFirst() }
            state.calls.append(call)
        }
    }

    /// Upstream's statement about who is signed in.
    static func note(_ profiles: [BridgedProfile]) {
        guard let current else { return }
        let told = profiles.prefix(8).map { profile in
            Profile(
                mvpd: profile.mvpd, kind: profile.kind.rawValue,
                attributes: profile.attributes.prefix(mostNames).map { $0.isEncrypted ? "\($0.name) (encrypted)" : $0.name }.sorted())
        }
        current.state.withLock { $0.profiles = told }
    }
}
