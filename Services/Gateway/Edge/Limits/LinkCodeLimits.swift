internal import CoreMetrics
internal import Synchronization

/// Slows down whoever guesses link codes, of which a programmer's people have six digits each (rest-v2 §2.14;
/// Shared/Documents/Decisions/0015-limit-by-client-address.md).
///
/// Beside the address, the client pays: five wrong codes a minute, then pauses that double; one of its codes is looked up at a time. A client that
/// all installations of an app share counts anew at each address (clients §2). A programmer's people are under attack from `braking` wrong codes a
/// minute on, wherever they come from. Then clients that have sent a wrong one wait; the others pass.
///
/// The arithmetic, with codes that live `life` = 10 minutes: an address has at most 9 wrong tries in that time. They are five, then pauses of 30, 60,
/// 120 and 240 s. Against L codes that live, A addresses hit one with a chance of about 9 · A · L / 10⁶. That is 0.9 % for one address and a thousand
/// codes, and 9 % for a hundred addresses and a hundred. During an attack new codes are made only while (wrong codes of the last ten minutes) ×
/// (codes made in them) stays below `bound` · 10⁶. So at most one in ten attacks finds a code that is made then.
package final class LinkCodeLimits: Sendable {
    /// 48 bytes each.
    static let capacity = 1 << 14
    /// Wrong codes a minute of a programmer, from all sources, from which on it is under attack.
    static let braking = 30
    /// Minutes that a code lives.
    static let life = 10
    /// Expected hits of an attack among codes that are made meanwhile.
    static let bound = 0.1
    private static let codes = 1_000_000.0
    private static let second: Int64 = 1_000_000_000

    /// Leave to look a code up; `end` has to follow.
    struct Attempt: Sendable {
        fileprivate let client: AddressKey
        fileprivate let programmer: OctetText
    }

    enum Verdict: Sendable {
        case allowed(Attempt)
        /// Whole seconds, at least 1.
        case paused(seconds: Int)
    }

    private let clock: any MonotonicClock
    private let clients = AddressTable<WrongCodes>(capacity: LinkCodeLimits.capacity)
    /// Clients whose code is being looked up: at most as many as there are requests.
    private let lookUps = Mutex<Set<AddressKey>>([])
    /// At most as many as the catalogue has programmers.
    private let programmers = Mutex<[OctetText: LinkTries]>([:])
    private let braked = Counter(label: "boxoffice_gateway_link_codes_braked_total")

    init(clock: any MonotonicClock) { self.clock = clock }

    /// - Parameters:
    ///   - client: Id of the client whose bearer holds.
    ///   - address: Where the caller is, if all installations of an app share the client; else `nil`.
    ///   - programmer: One of the catalogue.
    func begin(_ client: String, sharedAt address: ClientAddress? = nil, of programmer: String) -> Verdict {
        let now = clock.nanoseconds()
        let key = address.map { AddressKey(client: client, at: $0) } ?? AddressKey(name: client)
        let (pause, isClean) = clients.update(key, now: now) { ($0.pause(at: now), $0.isClean) }
        guard pause == 0 else { return .paused(seconds: Int((pause + Self.second - 1) / Self.second)) }
        let programmer = OctetText(programmer)
        let wrong = programmers.withLock { $0[programmer]?.wrong(inLast: 1, now: now) ?? 0 }
        guard isClean || wrong < Self.braking else {
            braked.increment()
            return .paused(seconds: 60)
        }
        guard lookUps.withLock({ $0.insert(key).inserted }) else { return .paused(seconds: 1) }
        return .allowed(Attempt(client: key, programmer: programmer))
    }

    /// The look-up is over.
    /// - Parameter isWrong: The service knows no such code.
    func end(_ attempt: Attempt, isWrong: Bool) {
        _ = lookUps.withLock { $0.remove(attempt.client) }
        guard isWrong else { return }
        let now = clock.nanoseconds()
        clients.update(attempt.client, now: now) { $0.charge(at: now) }
        programmers.withLock { $0[attempt.programmer, default: LinkTries()].countWrong(at: now) }
    }

    /// Counts a code that is about to be made.
    /// - Returns: Seconds to wait, as the programmer's people are under attack; `nil`: it may be made.
    package func make(of programmer: String) -> Int? {
        let now = clock.nanoseconds()
        let mayBeMade = programmers.withLock { programmers in
            var tries = programmers[OctetText(programmer)] ?? LinkTries()
            defer { programmers[OctetText(programmer)] = tries }
            let isAttacked = tries.wrong(inLast: 1, now: now) >= Self.braking
            let hits = Double(tries.wrong(inLast: Self.life, now: now)) * Double(tries.made(inLast: Self.life, now: now) + 1) / Self.codes
            guard !isAttacked || hits < Self.bound else { return false }
            tries.countMade(at: now)
            return true
        }
        return mayBeMade ? nil : 60
    }
}

/// Wrong link codes of a programmer, and codes that were made, minute by minute.
struct LinkTries: Sendable {
    private static let minute: Int64 = 60_000_000_000

    private struct Minute {
        /// Since the clock's start.
        var number: Int64 = -1
        var wrong = 0
        var made = 0
    }

    private var minutes = [Minute](repeating: Minute(), count: LinkCodeLimits.life + 1)

    mutating func countWrong(at now: Int64) { change(now) { $0.wrong += 1 } }

    mutating func countMade(at now: Int64) { change(now) { $0.made += 1 } }

    /// - Parameter minutes: This one and those before it, 1 to 10.
    func wrong(inLast minutes: Int, now: Int64) -> Int { sum(minutes, now, \.wrong) }

    func made(inLast minutes: Int, now: Int64) -> Int { sum(minutes, now, \.made) }

    private mutating func change(_ now: Int64, _ change: (inout Minute) -> Void) {
        let number = now / Self.minute
        let place = Int(number % Int64(minutes.count))
        if minutes[place].number != number { minutes[place] = Minute(number: number) }
        change(&minutes[place])
    }

    /// The minute that is not over counts, and one more, so that no span is too short.
    private func sum(_ count: Int, _ now: Int64, _ member: KeyPath<Minute, Int>) -> Int {
        let number = now / Self.minute
        return minutes.reduce(0) { $0 + ((number - Int64(count)...number).contains($1.number) ? $1[keyPath: member] : 0) }
    }
}
