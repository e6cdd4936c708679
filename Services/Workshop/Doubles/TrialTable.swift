internal import Contracts
internal import Faults
internal import Synchronization

/// Trials of TempPasses: a device's, and where one names a person, that person's on every device (rest-v2 §5 L).
final class TrialTable: Sendable {
    struct Holder: Hashable, Sendable {
        let place: InMemoryAuthentication.Place
        let mvpd: String
        /// Empty: the device alone counts.
        var user = ""
    }

    /// Its clock was started.
    struct Trial: Sendable {
        /// Milliseconds since 1970.
        let startedAt: UInt64
        let expiresAt: UInt64
        /// The different ones that were played, oldest first.
        var resources: [String] = []
    }

    private struct Key: Hashable {
        var device: String?
        var user: String?
        let requestor: String
        let mvpd: String

        func isCovered(by scope: ResetTempPassRequest.Scope?) -> Bool {
            switch scope {
            case nil, .deviceID(""), .deviceID("all"): device != nil
            case .deviceID(let wanted): device == wanted
            case .key(""), .key("all"): user != nil
            case .key(let wanted): user == wanted
            }
        }
    }

    private struct State {
        var trials: [UInt64: Trial] = [:]
        var known: [Key: UInt64] = [:]
        var next: UInt64 = 0

        func number(_ holder: Holder) -> UInt64? { TrialTable.keys(holder).lazy.compactMap { known[$0] }.first }
    }

    /// Beyond it all are forgotten: a double must not grow without end.
    private static let capacity = 200_000

    private let state = Mutex(State())

    /// A person's before a device's.
    /// - Parameter life: When it began, milliseconds since 1970: trials of before are not told.
    func trial(of holder: Holder, since life: UInt64) -> Trial? {
        state.withLock { state in state.number(holder).flatMap { state.trials[$0] } }.flatMap { $0.startedAt >= life ? $0 : nil }
    }

    /// Starts the clock with the first play; a resource counts once.
    /// - Parameters:
    ///   - terms: The terms of the TempPass.
    ///   - now: Milliseconds since 1970.
    ///   - life: A trial of before begins anew.
    /// - Throws: `authentication_session_expired` (the trial is over), `authorization_denied_by_mvpd` (no resource is left).
    func spend(_ resource: String, of holder: Holder, _ terms: TempPass, now: UInt64, since life: UInt64) throws(Fault) -> Trial {
        let outcome: Result<Trial, Fault> = state.withLock { state in
            if state.known.count >= Self.capacity { state = State() }
            let number = state.number(holder) ?? state.next
            let known = state.trials[number].flatMap { $0.startedAt >= life ? $0 : nil }
            var trial = known ?? Trial(startedAt: now, expiresAt: now + UInt64(terms.ttlSeconds) * 1000)
            guard now < trial.expiresAt else { return .failure(Fault(.authenticationSessionExpired, "The trial is over.")) }
            if terms.kind == .promotional, !trial.resources.contains(resource) {
                guard trial.resources.count < Int(terms.maxResources) else {
                    return .failure(Fault(.authorizationDeniedByMvpd, "The resources are used up."))
                }
                trial.resources.append(resource)
            }
            state.next = max(state.next, number + 1)
            state.trials[number] = trial
            for key in Self.keys(holder) { state.known[key] = number }
            return .success(trial)
        }
        return try outcome.get()
    }

    /// - Returns: The number of forgotten trials.
    func forget(_ scope: ResetTempPassRequest.Scope?, requestor: String, mvpd: String) -> Int {
        state.withLock { state in
            let found = state.known.filter { key, _ in key.requestor == requestor && key.mvpd == mvpd && key.isCovered(by: scope) }
            for key in found.keys { state.known[key] = nil }
            return Set(found.values).count
        }
    }

    private static func keys(_ holder: Holder) -> [Key] {
        let (requestor, mvpd) = (holder.place.requestor, holder.mvpd)
        let device = Key(device: holder.place.device, requestor: requestor, mvpd: mvpd)
        return holder.user.isEmpty ? [device] : [Key(user: holder.user, requestor: requestor, mvpd: mvpd), device]
    }
}

/// A dictionary for many threads; beyond its capacity it forgets what was put in first.
final class BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var values: [Key: Value] = [:]
        /// Keys in the order in which they came; those before `first` are forgotten.
        var order: [Key] = []
        var first = 0
    }

    private final class Shard: Sendable {
        let state = Mutex(State())
    }

    /// A power of two: the number of threads that can work at once.
    private static var shardCount: Int { 64 }

    private let shards: [Shard]
    private let capacity: Int

    /// - Parameter capacity: Entries that are kept, 64 or more.
    init(capacity: Int) {
        shards = (0..<Self.shardCount).map { _ in Shard() }
        self.capacity = max(1, capacity / Self.shardCount)
    }

    subscript(key: Key) -> Value? {
        get { shard(key).state.withLock { $0.values[key] } }
        set { change(key) { $0 = newValue } }
    }

    /// Reads and changes one entry in one step.
    func change<Result: Sendable>(_ key: Key, _ body: (inout Value?) throws -> sending Result) rethrows -> Result {
        try shard(key).state.withLock { state in
            var value = state.values[key]
            let wasThere = value != nil
            let result = try body(&value)
            state.values[key] = value
            if !wasThere, value != nil { remember(key, &state) }
            return result
        }
    }

    /// A copy of all entries, for rare questions.
    var all: [Key: Value] {
        shards.reduce(into: [:]) { all, shard in all.merge(shard.state.withLock { $0.values }) { $1 } }
    }

    private func shard(_ key: Key) -> Shard { shards[key.hashValue & (Self.shardCount - 1)] }

    private func remember(_ key: Key, _ state: inout State) {
        state.order.append(key)
        while state.order.count - state.first > capacity {
            // A key that was removed and added again is in the order twice, so that it is evicted earlier than necessary.
            state.values[state.order[state.first]] = nil
            state.first += 1
        }
        if state.first > capacity {
            state.order.removeFirst(state.first)
            state.first = 0
        }
    }
}
