import Foundation

/// Where a fault of a host takes place.
struct HostsStage: Sendable {
    let cluster: HostsCluster
    let databases: DatabaseServers
    let bout: Bout
    /// Folder of the programs of the release before; `nil`: none is at hand.
    let former: URL?
    /// Folder of the programs under test.
    let binaries: URL
    /// True when faults may take minutes.
    let isLong: Bool

    func pause(_ time: Duration) async throws { try await Task.sleep(for: time) }

    /// Waits until a change is acknowledged again.
    /// - Returns: When the first call that was had begun.
    func waitForWrite(after moment: ContinuousClock.Instant, within limit: Duration) async throws -> ContinuousClock.Instant {
        try await Wait.until("a change is acknowledged", within: limit) { bout.tally.hasSuccess(of: .code, after: moment) }
        return .now
    }
}

/// One fault of two hosts under load, and what it may cost.
struct HostFault: Sendable {
    let name: String
    let budget: Budget
    let inject: @Sendable (HostsStage) async throws -> Injection
    /// Why it cannot be tried; `nil`: it can.
    var obstacle: @Sendable (HostsStage) -> String? = { _ in nil }
}
