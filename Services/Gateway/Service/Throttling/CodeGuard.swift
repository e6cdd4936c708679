internal import CoreMetrics

/// Slows down whoever guesses registration codes, by address (dashboard §8; Shared/Decisions/0015-limits-by-address.md).
final class CodeGuard: Sendable {
    /// 48 bytes each.
    static let capacity = 1 << 16

    /// Leave to try one code; it counts as wrong until it is settled otherwise.
    struct Attempt: Sendable {
        fileprivate let key: AddressKey?
        fileprivate let before: WrongCodes
    }

    enum Verdict: Sendable {
        case allowed(Attempt)
        /// Whole seconds, at least 1.
        case paused(seconds: Int)
    }

    private let exempt: [AddressRange]
    private let clock: any MonotonicClock
    private let records: AddressTable<WrongCodes>
    private let refused = Counter(label: "boxoffice_gateway_code_attempts_refused_total")

    init(exempt: [AddressRange], clock: any MonotonicClock, capacity: Int = CodeGuard.capacity) {
        self.exempt = exempt
        self.clock = clock
        records = AddressTable(capacity: capacity)
    }

    func begin(_ client: ClientAddress) -> Verdict {
        guard let address = IPAddress(client.text), !exempt.contains(where: { $0.contains(address) }) else {
            return .allowed(Attempt(key: nil, before: WrongCodes()))
        }
        let key = AddressKey(address)
        let now = clock.nanoseconds()
        let verdict = records.update(key, now: now) { record -> Verdict in
            let pause = record.pause(at: now)
            guard pause == 0 else { return .paused(seconds: Int((pause + 999_999_999) / 1_000_000_000)) }
            let before = record
            record.charge(at: now)
            return .allowed(Attempt(key: key, before: before))
        }
        if case .paused = verdict { refused.increment() }
        return verdict
    }

    /// The code was not wrong, or nobody could tell.
    func takeBack(_ attempt: Attempt) {
        guard let key = attempt.key else { return }
        records.update(key, now: clock.nanoseconds()) { $0.refund(to: attempt.before) }
    }
}
