/// The calls that this caller gave up lately: what the callee sent before it saw the cancel may still come, and is dropped.
struct CancelledCalls: Sendable {
    private static let capacity = 1024

    private var ids: Set<UInt64> = []
    private var order: [UInt64] = []
    private var oldest = 0
    /// Up to here, given-up calls are no longer remembered: late answers are dropped without question.
    private var horizon: UInt64 = 0

    mutating func insert(_ id: UInt64) {
        ids.insert(id)
        guard order.count == Self.capacity else { return order.append(id) }
        horizon = max(horizon, order[oldest])
        ids.remove(order[oldest])
        order[oldest] = id
        oldest = (oldest + 1) % Self.capacity
    }

    func contains(_ id: UInt64) -> Bool {
        ids.contains(id) || id <= horizon
    }
}
