/// Where an experiment takes place.
struct Stage: Sendable {
    let cluster: ChaosCluster
    let app: App
    let ledger: Ledger
    let tally: Tally
    /// Plays what a fault must meet and the load may not bring in time.
    let teller: StoryTeller
    /// More rounds, longer faults.
    let isLong: Bool

    func pause(_ time: Duration) async throws { try await Task.sleep(for: time) }
}
