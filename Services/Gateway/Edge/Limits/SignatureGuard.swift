internal import CoreMetrics
internal import Faults
internal import Hummingbird
internal import Tokens

/// Slows down addresses whose signed requests are refused, by an account that nothing else is charged to: a television with a wrong clock must not
/// lock out the codes that are typed in its household (clients §2).
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

    /// - Returns: Whole seconds, at least 1, for which a signed request of the address is not looked at; `nil` when it is, and for what is not signed.
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
        let fault = (error as? BearerProblem)?.fault ?? error as? Fault
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
