package import Contracts
internal import CoreMetrics
internal import Faults
internal import Hummingbird
internal import Synchronization
internal import Tokens

/// Slows down whoever guesses registration codes and link codes, by address (dashboard §8;
/// Shared/Documents/Decisions/0015-limit-by-client-address.md).
package final class CodeGuard: Sendable {
    /// 48 bytes each.
    static let capacity = 1 << 16
    /// The number of different codes of an address that may be looked up at one time.
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
    package let links: LinkCodeLimits
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

/// The address must wait before it may try a code again.
package struct CodePause: Error {
    /// At least 1.
    package let seconds: Int

    package init(seconds: Int) { self.seconds = seconds }
}

extension CodeGuard {
    /// Does what looks a code up, unless the address must pause. Only a code that the service does not know costs anything, whatever the caller is
    /// told; other failures say nothing of the code.
    /// - Throws: `CodePause`, or what the work throws.
    package func trying<Value>(_ code: String, of exchange: Exchange, _ work: () async throws -> Value) async throws -> Value {
        switch begin(code, of: exchange.facts.clientAddress) {
        case .paused(let seconds): throw CodePause(seconds: seconds)
        case .allowed(let attempt):
            do {
                let value = try await work()
                end(attempt, isWrong: false)
                return value
            } catch {
                end(attempt, isWrong: (error as? Fault)?.code == .invalidRegistrationCode)
                throw error
            }
        }
    }

    /// The same for a link code, of which a programmer's people have six digits each: beside the address the client pays for a wrong one.
    /// - Parameters:
    ///   - client: The client whose bearer holds.
    ///   - programmer: One of the catalogue.
    /// - Throws: `CodePause`, or what the work throws.
    package func tryingLink<Value>(
        _ code: String, by client: VerifiedClient, of programmer: String, _ exchange: Exchange, _ work: () async throws -> Value
    ) async throws -> Value {
        // No registration code begins so.
        try await trying("link" + code, of: exchange) {
            switch links.begin(client.clientID, sharedAt: client.isShared ? exchange.facts.clientAddress : nil, of: programmer) {
            case .paused(let seconds): throw CodePause(seconds: seconds)
            case .allowed(let attempt):
                do {
                    let value = try await work()
                    links.end(attempt, isWrong: false)
                    return value
                } catch {
                    links.end(attempt, isWrong: (error as? Fault)?.code == .invalidRegistrationCode)
                    throw error
                }
            }
        }
    }
}

/// Counts the wrong registration codes of an address and sets the pause that follows (dashboard §8). Five a minute are free. The fifth and each
/// further one begin a pause that is twice as long as the one before.
struct WrongCodes: AddressRecord {
    static let free = 5
    static let minute: Int64 = 60_000_000_000
    static let firstPause: Int64 = 30_000_000_000
    static let longestPause: Int64 = 3_600_000_000_000

    /// Wrong codes since `windowStart`.
    private var count = 0
    private var windowStart: Int64 = 0
    /// Pauses so far.
    private var pauses = 0
    private var pausedUntil: Int64 = 0

    init() {}

    /// A pause is remembered for ten minutes more, or once more its own length.
    var expires: Int64 {
        pauses == 0 ? windowStart + Self.minute : pausedUntil + max(10 * Self.minute, Self.pause(pauses))
    }

    /// True as long as no wrong code is remembered.
    var isClean: Bool { count == 0 && pauses == 0 }

    /// The pause that is left, in nanoseconds; 0: a code may be tried.
    func pause(at now: Int64) -> Int64 { max(0, pausedUntil - now) }

    /// Counts a wrong code.
    mutating func charge(at now: Int64) {
        if pauses == 0, count == 0 || now >= windowStart + Self.minute {
            windowStart = now
            count = 0
        }
        count += 1
        guard pauses > 0 || count >= Self.free else { return }
        pauses += 1
        pausedUntil = now + Self.pause(pauses)
    }

    /// Nanoseconds.
    private static func pause(_ number: Int) -> Int64 {
        number > 7 ? longestPause : min(longestPause, firstPause << Int64(number - 1))
    }
}

/// A registration code as a person types it: lower case, blanks and dashes are accepted.
package struct TypedCode: Hashable, Sendable {
    /// Upper-case letters and digits only; may be empty.
    package let text: String

    package init(_ typed: String) {
        text = String(typed.uppercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
    }

    /// No code is as short or as long (rest-v1 §3.4: samples have 6 and 7).
    package var isPlausible: Bool { (5...16).contains(text.utf8.count) }
}

/// Slows down addresses whose signed requests are refused. It keeps a separate account: a television with a wrong clock must not lock out the codes
/// that are typed in its household (clients §2).
final class SignatureGuard: Sendable {
    /// 16 bytes each.
    static let capacity = 1 << 16
    /// A refused request a second costs nothing for ever; this many more may come at once.
    static let burst = 60

    private let limit = RequestRate.Limit(perSecond: 1, burst: SignatureGuard.burst)
    private let exempt: [AddressRange]
    private let clock: any MonotonicClock
    private let rates: AddressTable<RequestRate>
    private let paused = Counter(label: "boxoffice_gateway_signed_requests_paused_total")

    init(exempt: [AddressRange], clock: any MonotonicClock, capacity: Int = SignatureGuard.capacity) {
        self.exempt = exempt
        self.clock = clock
        rates = AddressTable(capacity: capacity)
    }

    /// - Returns: Whole seconds, at least 1, for which a signed request of the address is not looked at. `nil` when it is, and for unsigned requests.
    func pause(_ headers: HTTPFields, of client: ClientAddress) -> Int? {
        guard let key = key(headers, client) else { return nil }
        let now = clock.nanoseconds()
        let excess = rates.update(key, now: now) { $0.excess(at: now, limit) }
        guard excess > 0 else { return nil }
        paused.increment()
        return Int((excess + 999_999_999) / 1_000_000_000)
    }

    /// Counts a signed request that was refused for its signature.
    func charge(_ error: any Error, _ exchange: Exchange) {
        let fault = (error as? BearerRejection)?.fault ?? error as? Fault
        guard fault?.code == .accessDenied, let key = key(exchange.headers, exchange.facts.clientAddress) else { return }
        let now = clock.nanoseconds()
        _ = rates.update(key, now: now) { $0.admit(at: now, limit) }
    }

    private func key(_ headers: HTTPFields, _ client: ClientAddress) -> AddressKey? {
        guard headers[values: .authorization].contains(where: SignedRequestHeader.isMeant),
            let address = IPAddress(client.text), !exempt.contains(where: { $0.contains(address) })
        else { return nil }
        return AddressKey(address)
    }
}
