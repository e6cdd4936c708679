/// Bounds of a store. Over one of them a call fails at once with `overloaded`; nothing waits in a growing queue.
public struct StoreLimits: Sendable, Hashable {
    /// Writes that wait for their commit, at least 1.
    public var waitingWrites: Int
    /// Writes in one commit, at least 1.
    public var writesPerCommit: Int
    /// The longest that a commit waits for further writes, and only while many come; zero: it never waits.
    public var gathering: Duration
    /// Reads that run or wait for a reader, at least 1.
    public var waitingReads: Int
    /// Reader connections, at least 1. Each costs up to 2 MiB of page cache.
    public var readers: Int
    /// Pages of 4096 bytes that the file may grow to; `nil`: as far as the disk goes.
    public var pages: Int?

    package static let pageBytes = 4096

    public init(
        waitingWrites: Int = 4096, writesPerCommit: Int = 256, gathering: Duration = .milliseconds(2), waitingReads: Int = 4096, readers: Int = 3,
        pages: Int? = nil
    ) {
        precondition(waitingWrites > 0 && writesPerCommit > 0 && waitingReads > 0 && readers > 0, "limits of a store are at least 1")
        precondition(gathering >= .zero && gathering <= .milliseconds(100), "a commit waits for at most 100 ms")
        self.waitingWrites = waitingWrites
        self.writesPerCommit = writesPerCommit
        self.gathering = gathering
        self.waitingReads = waitingReads
        self.readers = readers
        self.pages = pages
    }
}
