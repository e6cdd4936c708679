internal import Clocks
package import Contracts
internal import CoreMetrics
internal import Faults

/// Limits how many registration codes that have not ended an address may have: whoever has an app's statement makes clients without end.
package final class LiveCodes: Sendable {
    /// 72 octets each.
    static let capacity = 1 << 16
    private static let second: Int64 = 1_000_000_000

    private let limit: Int
    private let exempt: [AddressRange]
    private let clock: any MonotonicClock
    private let counts: AddressTable<ExpiryCounts>
    private let refused = Counter(label: "boxoffice_gateway_codes_refused_total")

    init(settings: ThrottleSettings, clock: any MonotonicClock, capacity: Int = LiveCodes.capacity) {
        limit = settings.codes
        exempt = settings.exempt
        self.clock = clock
        counts = AddressTable(capacity: capacity)
    }

    /// Counts a code that is about to be made.
    /// - Parameter seconds: Its life; 0: as long as a code lives where the app does not say.
    /// - Returns: The count to give back if no code is made after all; `nil`: it is not counted.
    /// - Throws: `too_many_requests`.
    private func enter(_ client: ClientAddress, seconds: UInt32) throws(Fault) -> Entry? {
        guard let address = IPAddress(client.text), !exempt.contains(where: { $0.contains(address) }) else { return nil }
        let now = clock.nanoseconds()
        let (start, limit) = (now / Self.second, limit)
        let end = start + Int64(seconds == 0 ? 1800 : seconds)
        guard !counts.update(AddressKey(address), now: now, { $0.add(endingAt: end, limit: limit, now: start) }) else {
            return Entry(key: AddressKey(address), end: end)
        }
        refused.increment()
        throw Fault(.tooManyRequests, "This address has \(limit) registration codes that have not ended.", retryAfter: .seconds(60))
    }

    /// A code that was counted.
    private struct Entry: Sendable {
        fileprivate let key: AddressKey
        fileprivate let end: Int64
    }

    /// No code was made.
    private func leave(_ entry: Entry) {
        let now = clock.nanoseconds()
        counts.update(entry.key, now: now) { $0.remove(endingAt: entry.end, now: now / Self.second) }
    }
}

extension LiveCodes {
    /// Counts the code that is made.
    /// - Parameter seconds: As of `enter`.
    /// - Throws: `too_many_requests`; what `make` throws, and then nothing is counted.
    package func make<Made>(for client: ClientAddress, seconds: UInt32, _ make: () async throws -> Made) async throws -> Made {
        let counted = try enter(client, seconds: seconds)
        do {
            return try await make()
        } catch {
            if let counted { leave(counted) }
            throw error
        }
    }

    /// Counts the code that a way to a sign-in may bring.
    /// - Throws: `too_many_requests`; what `plan` throws, and then nothing is counted.
    package func plan(for client: ClientAddress, _ plan: () async throws -> SignInPlan) async throws -> SignInPlan {
        let counted = try enter(client, seconds: 0)
        do {
            let made = try await plan()
            if let counted { settle(counted, made) }
            return made
        } catch {
            if let counted { leave(counted) }
            throw error
        }
    }

    /// No code was made, or one that has taken another's place: then that one counts no longer, as far as it does here.
    private func settle(_ counted: Entry, _ made: SignInPlan) {
        guard let code = made.code else { return leave(counted) }
        let (end, replaced) = (code.expiresAtMilliseconds, made.replacedExpiresAtMilliseconds)
        guard replaced > 0, replaced <= end else { return }
        leave(Entry(key: counted.key, end: counted.end - Int64(clamping: (end - replaced) / 1000)))
    }
}

extension ExpiryCounts: AddressRecord {
    /// Its clock counts seconds, a table's nanoseconds.
    var expires: Int64 { end.multipliedReportingOverflow(by: 1_000_000_000).partialValue }
}
