/// States whether a commit should wait for further writes, as a pure state machine. A commit of many writes costs each of them a fraction of a commit
/// of its own (Shared/Documents/Decisions/0038-wait-for-writers-before-a-commit.md).
///
/// Writers that were seen at once lately will come at once again. As many are worth waiting for, for a moment; whoever writes alone, or with one or
/// two others, is never made to wait.
package struct CommitPace: Sendable {
    /// Writers that must have been seen at once.
    package static let fewest = 4
    /// After so much time without a commit nothing is known of the writers.
    package static let memory: Duration = .milliseconds(5)

    private var writers = 0
    private var lastEnd: ContinuousClock.Instant?

    package init() {}

    /// A commit has ended.
    /// - Parameters:
    ///   - count: Writes in it.
    ///   - waiting: Writes that came meanwhile.
    package mutating func committed(_ count: Int, waiting: Int, at now: ContinuousClock.Instant) {
        writers = max(count + waiting, writers - max(1, writers / 4))
        lastEnd = now
    }

    /// A commit that begins now should have this many writes; 0: as many as there are.
    package func worthWaiting(at now: ContinuousClock.Instant) -> Int {
        guard writers >= Self.fewest, let lastEnd, lastEnd.duration(to: now) < Self.memory else { return 0 }
        return writers
    }
}
