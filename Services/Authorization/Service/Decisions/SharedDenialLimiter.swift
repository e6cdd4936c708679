internal import Clocks
internal import Synchronization

/// The limiter of one process.
final class SharedDenialLimiter: Sendable {
    private let state = Mutex(DenialLimiter())

    func blocked(_ subject: DenialLimiter.Subject, now: Timestamp) -> Denial? {
        state.withLock { $0.blocked(subject, now: now) }
    }

    func record(_ denial: Denial, for subject: DenialLimiter.Subject, attempt: String?, now: Timestamp) {
        state.withLock { $0.record(denial, for: subject, attempt: attempt, now: now) }
    }
}
