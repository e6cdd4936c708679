internal import CoreMetrics
internal import Synchronization

/// Slows down whoever guesses registration codes and link codes, by address (dashboard §8; Shared/Documents/Decisions/0015-limit-by-client-address.md).
final class CodeGuard: Sendable {
    /// 48 bytes each.
    static let capacity = 1 << 16
    /// How many different codes of an address may be looked up at one time.
    static let atOnce = 5

    /// Leave to look a code up.
    struct Attempt: Sendable {
        fileprivate let key: AddressKey?
        fileprivate let code: OctetText
    }

    enum Verdict: Sendable {
        case allowed(Attempt)
        /// Whole seconds, at least 1.
        case paused(seconds: Int)
    }

    /// One code of an address under look-up.
    private struct LookUp {
        var askers = 1
        /// The same code asked many times at once is one guess.
        var isCharged = false
    }

    private let exempt: [AddressRange]
    private let clock: any MonotonicClock
    private let records: AddressTable<WrongCodes>
    let links: LinkCodeLimits
    /// Holds what is under way and nothing else: at most as many entries as there are requests.
    private let lookUps = Mutex<[AddressKey: [OctetText: LookUp]]>([:])
    private let refused = Counter(label: "boxoffice_gateway_code_attempts_refused_total")

    init(exempt: [AddressRange], clock: any MonotonicClock, capacity: Int = CodeGuard.capacity) {
        self.exempt = exempt
        self.clock = clock
        records = AddressTable(capacity: capacity)
        links = LinkCodeLimits(clock: clock)
    }

    /// - Parameter code: As somebody typed it.
    func begin(_ typed: String, of client: ClientAddress) -> Verdict {
        let code = OctetText(TypedCode(typed).text)
        guard let address = IPAddress(client.text), !exempt.contains(where: { $0.contains(address) }) else {
            return .allowed(Attempt(key: nil, code: code))
        }
        let key = AddressKey(address)
        let now = clock.nanoseconds()
        let pause = records.update(key, now: now) { $0.pause(at: now) }
        guard pause == 0 else { return refuse(Int((pause + 999_999_999) / 1_000_000_000)) }
        let isTaken = lookUps.withLock { all in
            var own = all[key] ?? [:]
            guard own[code] != nil || own.count < Self.atOnce else { return false }
            own[code, default: LookUp(askers: 0)].askers += 1
            all[key] = own
            return true
        }
        return isTaken ? .allowed(Attempt(key: key, code: code)) : refuse(1)
    }

    /// The look-up is over.
    /// - Parameter isWrong: The service knows no such code; it costs the address one of its wrong codes.
    func end(_ attempt: Attempt, isWrong: Bool) {
        guard let key = attempt.key else { return }
        let isCharged = lookUps.withLock { all in
            guard var own = all[key], var lookUp = own[attempt.code] else { return false }
            let isFirst = isWrong && !lookUp.isCharged
            lookUp.isCharged = lookUp.isCharged || isWrong
            lookUp.askers -= 1
            own[attempt.code] = lookUp.askers > 0 ? lookUp : nil
            all[key] = own.isEmpty ? nil : own
            return isFirst
        }
        guard isCharged else { return }
        let now = clock.nanoseconds()
        records.update(key, now: now) { $0.charge(at: now) }
    }

    private func refuse(_ seconds: Int) -> Verdict {
        refused.increment()
        return .paused(seconds: seconds)
    }
}
