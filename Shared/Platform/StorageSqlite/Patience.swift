internal import Synchronization
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How long connections to a file wait for others that have it locked: five seconds or so, and less while somebody is in a hurry. A try is half a millisecond.
final class Patience: Sendable {
    private static let usual = 10_000
    private let tries = Atomic(usual)

    /// SQLite's own waiting grows to a tenth of a second, in which a process that writes all the time keeps the file for itself. Short waits of
    /// random length find the gaps between its commits.
    /// - Parameter tries: How often it has waited already.
    /// - Returns: False: it gives up.
    func wait(_ tries: Int) -> Bool {
        guard tries < self.tries.load(ordering: .relaxed) else { return false }
        usleep(.random(in: 100...900))
        return true
    }

    /// Waits are shorter while the body runs.
    func hurry<Result>(tries: Int, _ body: () throws -> Result) rethrows -> Result {
        self.tries.store(tries, ordering: .relaxed)
        defer { self.tries.store(Self.usual, ordering: .relaxed) }
        return try body()
    }
}
