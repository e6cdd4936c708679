internal import CoreMetrics

/// Limits how often an address may call (rest-v1 §2.7).
final class Throttle: Sendable {
    /// 16 bytes each.
    static let capacity = 1 << 20

    private let limit: RequestRate.Limit
    private let exempt: [AddressRange]
    private let clock: any MonotonicClock
    private let rates: AddressTable<RequestRate>
    private let refused = Counter(label: "boxoffice_gateway_throttled_total")

    init(settings: ThrottleSettings, clock: any MonotonicClock, capacity: Int = Throttle.capacity) {
        limit = RequestRate.Limit(perSecond: settings.perSecond, burst: settings.burst)
        exempt = settings.exempt
        self.clock = clock
        rates = AddressTable(capacity: capacity)
    }

    /// Counts a request of the address.
    /// - Returns: False when it must be refused. An address that the transport does not tell is not limited: over TCP there is none such.
    func admits(_ client: ClientAddress) -> Bool {
        guard let address = IPAddress(client.text), !exempt.contains(where: { $0.contains(address) }) else { return true }
        let now = clock.nanoseconds()
        let isAdmitted = rates.update(AddressKey(address), now: now) { $0.admit(at: now, limit) }
        if !isAdmitted { refused.increment() }
        return isAdmitted
    }
}
