internal import Clocks

/// What happens to a letter after a try (apple §1.3).
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
