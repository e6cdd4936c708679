/// Keeps retries a small part of the calls, so that they cannot multiply the load on a peer in trouble.
struct RetryBudget: Sendable {
    /// Retries that may follow one another at most.
    let capacity: Double
    /// The amount that each call adds.
    let ratio: Double
    private(set) var balance: Double

    init(capacity: Double = 20, ratio: Double = 0.1) {
        self.capacity = capacity
        self.ratio = ratio
        balance = capacity
    }

    mutating func recordCall() {
        balance = min(capacity, balance + ratio)
    }

    /// - Returns: True when a retry may be made; it is then taken from the budget.
    mutating func takeRetry() -> Bool {
        guard balance >= 1 else { return false }
        balance -= 1
        return true
    }
}
