internal import Contracts
internal import Faults
internal import PeerDoubles

/// The peers that the examiner plays.
struct PlayedPeers: Sendable {
    let doubles: PeerDoubles

    /// Time limit for a service to apply a new version of the catalogue.
    private static var updatePatience: Duration { Examination.patience * 5 / 4 }

    var configuration: Configuration { doubles.config.configuration }

    /// Changes the catalogue, waits until the service uses the change, does the work, and restores the catalogue.
    /// - Parameters:
    ///   - isThere: Whether the service already uses the changed catalogue.
    /// - Throws: `Unmet` when it does not in time; what the work throws.
    func withCatalogue(
        _ change: (inout Configuration) -> Void, until isThere: () async throws -> Bool, _ work: () async throws -> Void
    ) async throws {
        let before = configuration
        var changed = before
        change(&changed)
        changed.version += 1
        try doubles.config.publish(changed)
        let outcome: Result<Void, any Error>
        do {
            try await wait("what the changed catalogue says, within \(Self.updatePatience)", isThere)
            try await work()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        var after = before
        after.version = configuration.version + 1
        try doubles.config.publish(after)
        try outcome.get()
        try await wait("what the catalogue says that was set back, within \(Self.updatePatience)") { try await !isThere() }
    }

    private func wait(_ expected: String, _ isThere: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + Self.updatePatience
        while try await !isThere() {
            guard ContinuousClock.now < end else { throw Unmet(expected, came: "answers as before") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
