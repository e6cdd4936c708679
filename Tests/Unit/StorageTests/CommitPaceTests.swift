import Storage
import StorageSqlite
import Testing

@Suite("The pace of commits")
struct CommitPaceTests {
    private let start = ContinuousClock.now

    @Test("one writer, or two or three, are never made to wait", arguments: [(1, 0), (1, 1), (2, 1), (3, 0)])
    func fewNeverWait(_ count: Int, _ waiting: Int) {
        var pace = CommitPace()
        #expect(pace.worthWaiting(at: start) == 0)
        for step in 0..<100 {
            let now = start + .microseconds(300 * step)
            pace.committed(count, waiting: waiting, at: now)
            #expect(pace.worthWaiting(at: now) == 0)
        }
    }

    @Test("as many as were seen at once are worth waiting for")
    func waitsForAll() {
        var pace = CommitPace()
        pace.committed(3, waiting: 5, at: start)
        #expect(pace.worthWaiting(at: start + .milliseconds(1)) == 8)
        pace.committed(8, waiting: 0, at: start + .milliseconds(2))
        #expect(pace.worthWaiting(at: start + .milliseconds(3)) == 8)
        pace.committed(12, waiting: 20, at: start + .milliseconds(4))
        #expect(pace.worthWaiting(at: start + .milliseconds(4)) == 32)
    }

    @Test("writers that went away are soon forgotten")
    func forgets() {
        var pace = CommitPace()
        pace.committed(40, waiting: 24, at: start)
        var commits = 0
        while pace.worthWaiting(at: start) > 0, commits < 1000 {
            pace.committed(1, waiting: 0, at: start)
            commits += 1
        }
        #expect(commits <= 12)
    }

    @Test("a store that was idle commits the next write at once")
    func idleCommitsAtOnce() {
        var pace = CommitPace()
        pace.committed(40, waiting: 24, at: start)
        #expect(pace.worthWaiting(at: start + CommitPace.memory - .microseconds(1)) == 64)
        #expect(pace.worthWaiting(at: start + CommitPace.memory) == 0)
    }
}
