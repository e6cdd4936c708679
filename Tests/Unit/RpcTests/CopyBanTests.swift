import Testing

@testable import Rpc

@Suite("Copies that fail or are slow")
struct CopyBanTests {
    @Test("five bad calls of the last twenty take a copy out for 5 s")
    func tooManyFailures() {
        let pool = TestPool(copies: 3)
        #expect(pool.calls(0, 4, .bad) == nil)
        pool.calls(0, 17)
        #expect(pool.calls(0, 1, .bad) == nil, "of the four only the last two still count")
        pool.calls(0, 2)
        #expect(pool.calls(0, 4, .bad) == CopyBan(copy: 0, reason: .failures, span: .seconds(5)))
        #expect(Set(pool.shares(40).keys) == [1, 2])
        pool.now = pool.now.advanced(by: .milliseconds(4999))
        #expect(Set(pool.shares(40).keys) == [1, 2])
        pool.now = pool.now.advanced(by: .milliseconds(1))
        #expect(Set(pool.shares(60).keys) == [0, 1, 2])
        #expect(pool.calls(0, 4, .bad) == nil, "what was before does not count")
    }

    @Test("calls that say nothing of the copy do not count")
    func unknown() {
        let pool = TestPool(copies: 3)
        #expect(pool.calls(0, 100, .unknown) == nil)
        #expect(pool.state.copies[0].callsInFlight == 0)
    }

    @Test("each time it is out for twice as long, up to 60 s, until it has served for 60 s")
    func doubles() {
        let pool = TestPool(copies: 3)
        var spans: [Duration] = []
        for _ in 0..<6 {
            guard let ban = pool.calls(0, 5, .bad) else { break }
            spans.append(ban.span)
            pool.now = pool.now.advanced(by: ban.span)
            _ = pool.next()
        }
        #expect(spans == [.seconds(5), .seconds(10), .seconds(20), .seconds(40), .seconds(60), .seconds(60)])
        pool.now = pool.now.advanced(by: .seconds(61))
        #expect(pool.calls(0, 5, .bad)?.span == .seconds(5))
    }

    @Test("never more than half are out", arguments: [(1, 0), (2, 1), (3, 1), (4, 2), (7, 3)])
    func atMostHalf(copies: Int, out: Int) {
        let pool = TestPool(copies: copies)
        var bans = 0
        for copy in 0..<copies where pool.calls(copy, 20, .bad) != nil { bans += 1 }
        #expect(bans == out)
        #expect(pool.shares(40 * copies).count == copies - out)
    }

    @Test("a mean of more than three times the median of the copies is too slow")
    func tooSlow() {
        let pool = TestPool(copies: 3)
        for copy in 1...2 { pool.calls(copy, 20, microseconds: 10_000) }
        #expect(pool.calls(0, 20, microseconds: 30_000) == nil)
        #expect(pool.calls(0, 19, microseconds: 31_000) == nil, "judged after each round")
        #expect(pool.calls(0, 1, microseconds: 31_000) == CopyBan(copy: 0, reason: .slowness, span: .seconds(5)))
    }

    @Test("of two copies the slower one is measured by the quicker; what takes less than 10 ms is quick")
    func twoCopies() {
        let pool = TestPool(copies: 2)
        pool.calls(1, 20, microseconds: 100)
        #expect(pool.calls(0, 20, microseconds: 9999) == nil)
        #expect(pool.calls(0, 20, microseconds: 10_000)?.reason == .slowness)
        #expect(pool.calls(1, 20, microseconds: 50_000) == nil, "half are out already")
    }

    @Test("a lone copy is measured by nobody")
    func lone() {
        let pool = TestPool(copies: 1)
        #expect(pool.calls(0, 40, microseconds: 9_000_000) == nil)
    }

    @Test("copies that are out serve when no other can, before those that say that they cannot")
    func lastResort() {
        let pool = TestPool(copies: 4)
        pool.calls(0, 5, .bad)
        pool.calls(1, 5, .bad)
        pool.say(2, isServing: false)
        #expect(pool.shares(20) == [3: 20])
        #expect(pool.next(otherThan: PoolState<Item>.Choice(connection: pool.items[3], copy: 3)).map { $0 < 2 } == true, "a retry")
        pool.say(3, isServing: false)
        #expect(Set(pool.shares(20).keys) == [0, 1])
    }

    @Test("a copy that is out and goes comes back as it was")
    func comesBack() {
        let pool = TestPool(copies: 2)
        pool.calls(0, 5, .bad)
        pool.begin(0)
        _ = pool.state.removeCopy(0)
        pool.state.add(CopyState(RpcAddress(host: "10.0.0.0", port: 7002)), as: 0)
        _ = pool.state.set(.ready(pool.items[0]), at: 0)
        #expect(pool.state.copies[0].callsInFlight == 1)
        #expect(pool.shares(10) == [1: 10])
        pool.now = pool.now.advanced(by: .seconds(5))
        #expect(pool.shares(10) == [1: 10], "one call in flight is more than none")
        _ = pool.state.end(0, .good, microseconds: 1, now: pool.now)
        #expect(pool.shares(10).count == 2)
    }
}
