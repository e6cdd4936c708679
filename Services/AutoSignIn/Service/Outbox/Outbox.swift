internal import Clocks
internal import Faults
internal import Identifiers
internal import Logging
internal import Storage

/// Makes the calls that commits have left behind: local state changes first, the outside world hears of it later (apple §1.2, I5).
final class Outbox: Sendable {
    private let store: AutoSignInStore
    private let couriers: [OutboxKind: any OutboxCourier]
    private let clock: any WallClock
    private let random: any RandomSource
    private let metrics: AutoSignInMetrics
    private let logger: Logger
    /// Letters to Apple never hold up those to `authentication`: each destination has rounds of its own.
    private let rounds = [OutboxRound(kinds: [.endSessions]), OutboxRound(kinds: [.update, .delete, .revoke])]

    /// Letters that are under way at once.
    private static let batch = 32
    /// A letter whose process broke off meanwhile is tried again after this.
    static let lease: Duration = .seconds(120)

    init(
        store: AutoSignInStore, couriers: [OutboxKind: any OutboxCourier], clock: any WallClock, random: any RandomSource,
        metrics: AutoSignInMetrics, logger: Logger
    ) {
        self.store = store
        self.couriers = couriers
        self.clock = clock
        self.random = random
        self.metrics = metrics
        self.logger = logger
    }

    /// There is a new letter.
    func wake() {
        for round in rounds { round.wake() }
    }

    /// Delivers what is due until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while (try? await Task.sleep(for: .seconds(1))) != nil { self.wake() }
            }
            for round in rounds {
                group.addTask {
                    for await _ in round.signals { await self.deliver(round) }
                }
            }
        }
    }

    private func deliver(_ round: OutboxRound) async {
        do throws(Fault) {
            try await deliverDue(round.kinds)
        } catch {
            logger.warning("outbox_stalled", metadata: ["error": "\(error)"])
        }
    }

    /// Until nothing is due.
    /// - Throws: Faults of the storage.
    func deliverDue() async throws(Fault) {
        for round in rounds { try await deliverDue(round.kinds) }
    }

    private func deliverDue(_ kinds: [OutboxKind]) async throws(Fault) {
        while !Task.isCancelled {
            let now = clock.now()
            let items = try await store.dueLetters(kinds, now: now, limit: Self.batch)
            if items.isEmpty { return }
            let failures = await withTaskGroup(of: Fault?.self, returning: [Fault].self) { group in
                for item in items { group.addTask { await self.deliver(item) } }
                return await group.reduce(into: []) { failures, fault in if let fault { failures.append(fault) } }
            }
            if let failure = failures.first { throw failure }
        }
    }

    /// - Returns: Why its result could not be noted.
    private func deliver(_ item: OutboxItem) async -> Fault? {
        do throws(Fault) {
            let now = clock.now()
            // Claimed before it goes: whatever happens to this process, the try is counted, and counted as unclear.
            let lease = now + Self.lease
            guard try await store.change(Database.claim(item, until: lease), of: item.letter.partition) == 1 else { return nil }
            var tried = item
            tried.progress.attempts += 1
            tried.nextAt = lease
            let outcome = await couriers[item.letter.kind]?.deliver(item) ?? .unreachable
            try await note(outcome, tried)
            return nil
        } catch {
            return error
        }
    }

    private func note(_ outcome: DeliveryOutcome, _ item: OutboxItem) async throws(Fault) {
        let now = clock.now()
        let step = RetryPolicy.step(after: outcome, of: item.letter.kind, progress: item.progress, now: now, fraction: random.fraction())
        let courier = couriers[item.letter.kind]
        let isNoted = try await store.change { database, touched in
            // A copy that stood still for longer than the lease notes nothing: another copy has had the letter since, and knows better.
            guard try database.isHeld(item) else { return false }
            switch step {
            case .done: try Self.finish(item, .done, courier, database, &touched, now)
            case .absent: try Self.finish(item, .absent, courier, database, &touched, now)
            case .assumed: try Self.finish(item, .assumed, courier, database, &touched, now)
            case .again(let moment, let progress): try database.postpone(item, to: moment, progress)
            case .giveUp(let progress):
                try courier?.settle(item, .givenUp(isUnclear: progress.isUnclear), in: database, &touched, now: now)
                try database.bury(item, progress, now: now)
            }
            return true
        }
        guard isNoted else {
            return logger.warning("outbox_lease_lost", metadata: ["letter": "\(item.id)", "attempts": "\(item.progress.attempts)"])
        }
        report(step, outcome, item)
    }

    private static func finish(
        _ item: OutboxItem, _ end: DeliveryEnd, _ courier: (any OutboxCourier)?, _ database: Database, _ touched: inout Touched,
        _ now: Timestamp
    ) throws {
        try courier?.settle(item, end, in: database, &touched, now: now)
        try database.remove(item)
    }

    private func report(_ step: RetryPolicy.Step, _ outcome: DeliveryOutcome, _ item: OutboxItem) {
        let kind = item.letter.kind.rawValue
        let fields: Logger.Metadata = [
            "call": "\(kind)", "letter": "\(item.id)", "attempts": "\(item.progress.attempts)", "status": "\(outcome.status)",
        ]
        switch step {
        case .done, .assumed:
            metrics.delivered(kind, "done")
            logger.debug("outbox_delivered", metadata: fields)
        case .absent:
            metrics.delivered(kind, "absent")
            logger.warning("outbox_value_absent", metadata: fields)
        case .again:
            metrics.delivered(kind, "postponed")
            logger.info("outbox_postponed", metadata: fields)
        case .giveUp:
            // An alarm: an operator has to look, and may send it again.
            metrics.delivered(kind, "given_up")
            logger.error("outbox_gave_up", metadata: fields)
        }
    }

    /// - Returns: False when there is no dead letter of that id.
    func sendAgain(_ id: Int64) async throws(Fault) -> Bool {
        let now = clock.now()
        let wasKnown = try await store.change { [couriers] database, touched in
            guard let item = try database.deadLetter(id) else { return false }
            if try couriers[item.letter.kind]?.reopen(item, in: database, &touched, now: now) ?? true {
                try database.revive(item, now: now)
            } else {
                try database.remove(item)
            }
            return true
        }
        if wasKnown { wake() }
        return wasKnown
    }

    /// Oldest first, at most 1000.
    func deadLetters() async throws(Fault) -> [OutboxItem] {
        try await store.store.read { try $0.deadLetters(limit: 1000) }
    }
}

/// Letters that go out together, and the word that there is a new one.
private struct OutboxRound: Sendable {
    let kinds: [OutboxKind]
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(kinds: [OutboxKind]) {
        self.kinds = kinds
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func wake() { signal.yield() }
}

/// Decides about a letter after a try (apple §1.3).
struct RetryPolicy: Sendable {
    enum Step: Hashable, Sendable {
        /// The goal is reached.
        case done
        /// The other side never had what was to be changed.
        case absent
        /// The other side has it no more: an earlier try, which seemed lost, must have worked.
        case assumed
        case again(Timestamp, DeliveryProgress)
        /// Into the dead letters.
        case giveUp(DeliveryProgress)
    }

    /// The longest pause between two tries; of letters to `authentication`, which is ours, a short one.
    static let longestPause: Duration = .seconds(15 * 60)
    static let longestPauseWithin: Duration = .seconds(15)
    /// Then an Update is given up, and others are tried once a day.
    static let patience: Duration = .seconds(24 * 3600)
    static let day: Duration = .seconds(24 * 3600)
    /// Then the others are given up too.
    static let longPatience: Duration = .seconds(31 * 86_400)

    /// - Parameters:
    ///   - progress: With the try that has just ended counted in.
    ///   - fraction: From 0 to 1, at random.
    static func step(
        after outcome: DeliveryOutcome, of kind: OutboxKind, progress: DeliveryProgress, now: Timestamp, fraction: Double
    ) -> Step {
        var progress = progress
        progress.lastStatus = outcome.status
        switch outcome {
        case .accepted, .obsolete: return .done
        case .unknown:
            if kind != .update { return .done }
            return progress.isUnclear ? .assumed : .absent
        case .refused: return .giveUp(progress)
        case .credentialsRefused:
            progress.refusedCredentials += 1
            return progress.refusedCredentials > 1 ? .giveUp(progress) : .again(now, progress)
        case .busy(_, let retryAfter): return later(kind, progress, now, fraction, retryAfter)
        case .unclear(_, let retryAfter):
            progress.isUnclear = true
            return later(kind, progress, now, fraction, retryAfter)
        case .unreachable: return later(kind, progress, now, fraction, nil)
        }
    }

    private static func later(
        _ kind: OutboxKind, _ progress: DeliveryProgress, _ now: Timestamp, _ fraction: Double, _ retryAfter: Duration?
    ) -> Step {
        let spent = now - progress.beganAt
        // The other side's word on when to come back counts, up to a day.
        let asked = min(retryAfter ?? .zero, day)
        switch kind {
        case .endSessions:
            guard spent < longPatience else { return .giveUp(progress) }
            return .again(now + max(asked, pause(progress.attempts, fraction, longestPauseWithin)), progress)
        case .update where spent >= patience: return .giveUp(progress)
        case .delete where spent >= longPatience, .revoke where spent >= longPatience: return .giveUp(progress)
        case .delete where spent >= patience, .revoke where spent >= patience: return .again(now + day, progress)
        case .update, .delete, .revoke: return .again(now + max(asked, pause(progress.attempts, fraction, longestPause)), progress)
        }
    }

    /// 1 s doubling, with full jitter: any span up to that.
    private static func pause(_ attempts: Int, _ fraction: Double, _ longest: Duration) -> Duration {
        let ceiling = min(longest, .seconds(Int64(1) << Int64(min(max(attempts - 1, 0), 20))))
        return .milliseconds(Int64(Double(ceiling.components.seconds * 1000) * min(max(fraction, 0), 1)))
    }
}
