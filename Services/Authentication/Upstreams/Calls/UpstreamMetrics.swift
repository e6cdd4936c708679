internal import BridgeClient
internal import Clocks
internal import Contracts
internal import CoreMetrics
internal import Synchronization
internal import UsageCounting

/// What the bridge's metrics count, and their closed lists of words (bridge §14.1). `UpstreamGauges` tells what is a state and not an event.
final class UpstreamMetrics: Sendable {
    /// How a call to upstream ended.
    enum Outcome: String, CaseIterable, Sendable {
        case ok
        /// Upstream knows nothing: no profile, no MVPD.
        case empty
        /// A no to the person or to the resource.
        case denied
        /// A no to us: to the client, its bearer, or the call itself.
        case refused
        case throttled
        case timeout
        case unreachable
        /// An answer that is not the API's.
        case unusable
        case serverError = "server_error"
        /// Not made at all, as too many before it failed.
        case open
    }

    /// What was answered from memory because upstream could not be asked.
    enum Stale: String, CaseIterable, Sendable { case list, session, metadata, bearer }

    /// How a sign-in through upstream ended.
    enum SignIn: String, CaseIterable, Sendable {
        case signedIn = "signed_in"
        /// By a platform's token or sign-in, without a login here.
        case takenOver = "taken_over"
        /// Upstream knows a session again that it had forgotten.
        case revived
        /// Nobody signed in: cancelled and declined look alike.
        case declined
        case codeGone = "code_gone"
        case notConfirmed = "not_confirmed"
        case otherBrowser = "other_browser"
        /// No login began: upstream could not be asked, or its answer could not be used.
        case failed
        case other
    }

    /// Why a session ended.
    enum End: String, CaseIterable, Sendable {
        case gone = "gone_upstream"
        case over = "over_upstream"
        case trialOver = "trial_over"
        case clientLost = "client_lost"
        case logout
        /// By a login at another MVPD.
        case replaced
        /// An operator ended it.
        case reset
        case other
    }

    /// An entry of an upstream's `clients` whose statement upstream refuses.
    private struct Refusal {
        let upstream: String
        let reference: String
        var since: Timestamp
    }

    private static let mostRefusals = 1024

    let factory: any MetricsFactory
    private let series: UpstreamSeries
    /// By the client's place.
    private let refusals = Mutex<[OctetText: Refusal]>([:])

    init(factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        series = UpstreamSeries(factory: factory)
    }

    // MARK: Calls

    /// - Parameter time: `nil`: the call was not made.
    func called(_ operation: BridgeOperation, _ outcome: Outcome, _ upstream: String, after time: Duration?) {
        series.count(
            "boxoffice_authentication_bridge_calls_total", upstream, ["operation": operation.rawValue, "outcome": outcome.rawValue])
        if outcome == .throttled { throttled(upstream) }
        guard let time else { return }
        series.record(time, "boxoffice_authentication_bridge_call_duration_seconds", upstream, ["operation": operation.rawValue])
    }

    /// A call was given up for want of room: upstream said so, or it would have, or one of our own limits did.
    func throttled(_ upstream: String) { series.count("boxoffice_authentication_bridge_throttled_total", upstream) }

    func asked(batch outcome: Outcome, _ upstream: String) {
        series.count("boxoffice_authentication_bridge_preflight_batches_total", upstream, ["outcome": outcome.rawValue])
    }

    func answeredStale(_ kind: Stale, _ upstream: String) {
        series.count("boxoffice_authentication_bridge_stale_answers_total", upstream, ["kind": kind.rawValue])
    }

    // MARK: Sign-ins and sessions

    /// - Parameter result: As the log has it.
    func signInEnded(_ result: String, _ upstream: String) { signInEnded(SignIn(rawValue: result) ?? .other, upstream) }

    func signInEnded(_ result: SignIn, _ upstream: String) {
        series.count("boxoffice_authentication_bridge_sign_ins_total", upstream, ["result": result.rawValue])
    }

    /// - Parameter reason: As the log has it.
    func sessionEnded(_ reason: String, _ upstream: String) { sessionsEnded(End(rawValue: reason) ?? .other, upstream, 1) }

    func sessionsEnded(_ reason: End, _ upstream: String, _ count: Int) {
        guard count > 0 else { return }
        series.count("boxoffice_authentication_bridge_sessions_ended_total", upstream, ["reason": reason.rawValue], by: count)
    }

    // MARK: Our clients

    func issuedToken(_ upstream: String) { series.count("boxoffice_authentication_bridge_tokens_issued_total", upstream) }

    /// An operator hears of it: where it is about the statement, upstream refuses that until it registers a client by it.
    func noted(_ alarm: BridgeSlot.Alarm, of client: UpstreamClientAt, at now: Timestamp) {
        guard alarm == .statementRefused || alarm == .scopeMissing else { return }
        refusals.withLock { refusals in
            guard refusals[client.place] != nil || refusals.count < Self.mostRefusals else { return }
            refusals[client.place] = Refusal(upstream: client.upstream.id, reference: client.entry.statementReference, since: now)
        }
    }

    /// Upstream takes the statement.
    func registered(_ client: UpstreamClientAt) { refusals.withLock { $0[client.place] = nil } }

    /// How many of an upstream's `clients` have a statement that it refuses, as far as this copy knows. A refusal counts for a day, and no longer than the
    /// catalogue names the statement.
    func refusedStatements(of upstream: BridgeUpstream, now: Timestamp) -> Int {
        refusals.withLock { refusals in
            refusals = refusals.filter { place, refusal in
                guard OctetText(refusal.upstream) == OctetText(upstream.id) else { return true }
                let stands = upstream.clients.contains { entry in
                    UpstreamClientAt(service: upstream, entry).place == place
                        && OctetText(entry.statementReference) == OctetText(refusal.reference)
                }
                return stands && now < refusal.since + .seconds(86_400)
            }
            return refusals.values.count { OctetText($0.upstream) == OctetText(upstream.id) }
        }
    }
}

extension UpstreamMetrics.Outcome {
    /// The outcome of a call that was made.
    /// - Returns: `nil` where the caller gave up: that says nothing of upstream.
    init?(_ result: Result<some Any, BridgeFailure>) {
        switch result {
        case .success(let value): self = Self.isEmpty(value) ? .empty : Self.isDenial(value) ? .denied : .ok
        case .failure(let failure): self.init(failure)
        }
    }

    init?(_ failure: BridgeFailure) {
        switch failure {
        case .unreachable(.cancelled): return nil
        case .unreachable(.responseTimeout), .unreachable(.budgetSpent), .unreachable(.connectTimeout): self = .timeout
        case .unreachable: self = .unreachable
        case .unusable, .wrongAddress, .badRequest: self = .unusable
        case .serverError: self = .serverError
        case .throttled: self = .throttled
        case .unauthorized: self = .refused
        case .refused(let refusal):
            switch BridgeMeaning(refusal) {
            case .session, .decision, .trial: self = .denied
            case .unavailable, .theirFault: self = .serverError
            default: self = .refused
            }
        }
    }

    /// The outcome of something that needed calls.
    /// - Returns: `nil` where the trouble is our own.
    init?(_ trouble: UpstreamError) {
        switch trouble {
        case .failure(let failure): self.init(failure)
        case .busy: self = .throttled
        case .resting: self = .open
        case .wait, .clientLost: self = .refused
        case .store: return nil
        }
    }

    private static func isEmpty(_ value: Any) -> Bool {
        switch value {
        case let profiles as [BridgedProfile]: profiles.isEmpty
        case let list as (BridgedList, [UInt8]): list.0.providers.isEmpty
        default: false
        }
    }

    private static func isDenial(_ value: Any) -> Bool {
        guard let decision = value as? BridgedDecision, case .deny = decision.outcome else { return false }
        return true
    }
}
