internal import CoreMetrics

/// Counts notifications that turn out not to be Apple's, by client address, in an account that nothing else is charged to. One that verifies is never refused, whoever
/// sent others from its address: it is the answer to the failed ones that changes (apple §2.9).
final class NotificationThrottle: Sendable {
    /// 16 bytes each.
    static let capacity = 1 << 14
    /// A failed notification a second is answered as what it is for ever; this many more may come at once.
    static let burst = 60

    private let limit = RequestRate.Limit(perSecond: 1, burst: NotificationThrottle.burst)
    private let exempt: [AddressRange]
    private let clock: any MonotonicClock
    private let rates: AddressTable<RequestRate>
    private let failed = Counter(label: "boxoffice_gateway_notifications_failed_total")

    init(exempt: [AddressRange], clock: any MonotonicClock, capacity: Int = NotificationThrottle.capacity) {
        self.exempt = exempt
        self.clock = clock
        rates = AddressTable(capacity: capacity)
    }

    /// Counts a notification that did not verify.
    /// - Returns: Whole seconds, at least 1, after which its sender may fail again; `nil`: as long as it fails seldom.
    func charge(_ client: ClientAddress) -> Int? {
        failed.increment()
        guard let address = IPAddress(client.text), !exempt.contains(where: { $0.contains(address) }) else { return nil }
        let now = clock.nanoseconds()
        return rates.update(AddressKey(address), now: now) { $0.admit(at: now, limit) ? nil : $0.wait(at: now, limit) }
    }
}
