/// Waiting for something to become true, with a bound.
enum Wait {
    /// - Throws: `ChaosFailure` when the time is over; what the condition throws.
    static func until(
        _ what: String, within limit: Duration, every pause: Duration = .milliseconds(5), _ isMet: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        while try await !isMet() {
            guard ContinuousClock.now < end else { throw ChaosFailure("waited \(limit) in vain until \(what)") }
            try await Task.sleep(for: pause)
        }
    }
}
