public import Faults

/// Where the last no of each session is kept.
public protocol RefusalStore: Sendable {
    /// Keeps each in place of an earlier one of its session.
    /// - Throws: `Fault` of the store.
    func keep(_ refusals: [NotedRefusal]) async throws(Fault)

    /// What is kept of these sessions, in any order.
    /// - Throws: `Fault` of the store.
    func refusals(of sessions: [String]) async throws(Fault) -> [NotedRefusal]

    /// Forgets what is kept of these sessions.
    /// - Returns: How many rows there were.
    /// - Throws: `Fault` of the store.
    func forget(_ sessions: [String]) async throws(Fault) -> Int
}
