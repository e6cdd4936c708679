import Testing

@testable import Rpc

/// A connection of a pool that needs none.
final class Item: Sendable {}

/// A pool of copies whose connections are up unless a test says otherwise.
final class TestPool {
    var state: PoolState<Item>
    let items: [Item]
    var now = ContinuousClock.now

    init(copies: Int, perCopy: Int = 1, zone: String = "", zones: [String] = [], ranks: [CopyRank] = [], isUp: Bool = true) {
        let states = (0..<copies).map { number in
            CopyState(RpcAddress(host: "10.0.0.\(number)", port: 7002), rank: number < ranks.count ? ranks[number] : CopyRank())
        }
        items = (0..<copies * perCopy).map { _ in Item() }
        state = PoolState(states, perCopy: perCopy, zone: zone, random: SplitMix64(seed: 7))
        guard isUp else { return }
        for (index, item) in items.enumerated() {
            _ = state.set(.ready(item), at: index, zone: index / perCopy < zones.count ? zones[index / perCopy] : "")
        }
    }

    /// Number of the copy that gets the next call.
    func next(_ affinity: UInt64? = nil, otherThan failed: PoolState<Item>.Choice? = nil) -> Int? {
        state.pick(affinity: affinity, otherThan: failed, now: now)?.copy
    }

    /// How many of the next calls each copy gets.
    func shares(_ calls: Int) -> [Int: Int] {
        var shares: [Int: Int] = [:]
        for _ in 0..<calls { if let copy = next() { shares[copy, default: 0] += 1 } }
        return shares
    }

    func begin(_ copy: Int, _ calls: Int = 1) { for _ in 0..<calls { state.begin(copy) } }

    /// Calls that began and ended.
    @discardableResult
    func calls(_ copy: Int, _ count: Int, _ verdict: CallVerdict = .good, microseconds: UInt32 = 100) -> CopyBan? {
        var last: CopyBan?
        for _ in 0..<count {
            state.begin(copy)
            if let ban = state.end(copy, verdict, microseconds: microseconds, now: now) { last = ban }
        }
        return last
    }

    func say(_ copy: Int, isServing: Bool) {
        for index in state.links(of: copy) { state.note(isServing: isServing, of: items[index]) }
    }
}

@Suite("Which copy of a peer gets a call")
struct PoolStateTests {
    @Test("calls that do not overlap take turns; a connection that is lost gets none")
    func takesTurns() {
        let pool = TestPool(copies: 3, isUp: false)
        #expect(pool.state.isHopeful && pool.next() == nil)
        _ = pool.state.set(.ready(pool.items[0]), at: 0)
        _ = pool.state.set(.ready(pool.items[2]), at: 2)
        #expect([pool.next(), pool.next(), pool.next(), pool.next()] == [0, 2, 0, 2])
        let isLost = pool.state.lose(pool.items[0], at: 0)
        let again = pool.state.lose(pool.items[0], at: 0)
        #expect(isLost && !again)
        #expect(pool.next() == 2 && pool.next() == 2)
        #expect(pool.state.readyCount == 1)
    }

    @Test("a call stays near, and a retry goes to another copy, then to another connection")
    func staysNear() throws {
        let pool = TestPool(copies: 2, perCopy: 2)
        let items = pool.items
        // Near are the second connections of both copies.
        func next(otherThan index: Int? = nil) -> Int? {
            let failed = index.map { PoolState<Item>.Choice(connection: items[$0], copy: $0 / 2) }
            let chosen = pool.state.pick(otherThan: failed, now: pool.now) { $0 === items[1] || $0 === items[3] }
            return items.firstIndex { $0 === chosen?.connection }
        }
        let turns = [next(), next(), next()]
        #expect(turns == [1, 3, 1])
        let others = [next(otherThan: 1), next(otherThan: 3)]
        #expect(others == [3, 1])
        _ = pool.state.lose(items[3], at: 3)
        let near = [next(), next()]
        #expect(near == [1, 1], "of two copies that are equally busy the one that is near")
        let far = next(otherThan: 1)
        #expect(far == 2, "another copy matters more than nearness")
        _ = pool.state.lose(items[2], at: 2)
        let sibling = next(otherThan: 1)
        #expect(sibling == 0)
        _ = pool.state.lose(items[0], at: 0)
        let same = next(otherThan: 1)
        #expect(same == 1)
    }

    @Test("of two copies the one with fewer calls in flight")
    func lessBusy() {
        let pool = TestPool(copies: 2)
        pool.begin(0, 3)
        #expect(pool.shares(10) == [1: 10])
        pool.begin(1, 5)
        #expect(pool.shares(10) == [0: 10])
    }

    @Test("of many copies, one that is busy gets next to nothing, and all others their share")
    func twoChoices() {
        let pool = TestPool(copies: 8)
        pool.begin(3, 100)
        let shares = pool.shares(7000)
        #expect(shares[3] == nil)
        #expect((0..<8).filter { $0 != 3 }.allSatisfy { (700...1300).contains(shares[$0] ?? 0) }, "\(shares)")
    }

    @Test("a copy that cannot work gets no calls unless none can")
    func followsHealth() {
        let pool = TestPool(copies: 3, perCopy: 2)
        #expect(pool.state.servingCopies == 3)
        pool.say(0, isServing: false)
        #expect(Set(pool.shares(20).keys) == [1, 2] && pool.state.servingCopies == 2)
        pool.say(1, isServing: false)
        #expect(pool.shares(20) == [2: 20])
        pool.say(2, isServing: false)
        #expect(Set(pool.shares(60).keys) == [0, 1, 2] && pool.state.servingCopies == 0, "calls go there, and nothing serves")
        pool.say(1, isServing: true)
        #expect(pool.shares(20) == [1: 20])
        for index in 2...3 { _ = pool.state.lose(pool.items[index], at: index) }
        #expect(pool.state.servingCopies == 0)
    }

    @Test("copies come with any number")
    func comes() {
        let pool = TestPool(copies: 1)
        pool.state.rank(3, CopyRank(priority: 1))
        pool.state.add(CopyState(RpcAddress(host: "10.0.0.3", port: 7002)), as: 3)
        let item = Item()
        _ = pool.state.set(.ready(item), at: 3)
        #expect(pool.state.copies.count == 4 && pool.state.isAbsent(1) && pool.state.isAbsent(2))
        #expect(pool.shares(10) == [0: 5, 3: 5])
        pool.state.add(CopyState(RpcAddress(host: "10.0.0.1", port: 7002)), as: 1)
        #expect(pool.state.copies[1].key == Rendezvous.key(of: "10.0.0.1:7002") && pool.shares(10) == [0: 5, 3: 5])
    }

    // MARK: Affinity

    @Test("calls with one affinity go to one copy, and affinities are spread over all")
    func keepsAffinity() {
        let pool = TestPool(copies: 4)
        var counts: [Int: Int] = [:]
        for affinity in 0..<400 as Range<UInt64> {
            let copies = Set((0..<5).map { _ in pool.next(CallContextAffinity.of(affinity)) })
            #expect(copies.count == 1)
            for case let copy? in copies { counts[copy, default: 0] += 1 }
        }
        #expect(counts.count == 4 && counts.values.allSatisfy { (60...140).contains($0) }, "\(counts)")
    }

    @Test("a copy that goes moves its own affinities only")
    func movesFew() {
        let pool = TestPool(copies: 4)
        let before = (0..<200 as Range<UInt64>).map { pool.next(CallContextAffinity.of($0)) }
        _ = pool.state.lose(pool.items[1], at: 1)
        let after = (0..<200 as Range<UInt64>).map { pool.next(CallContextAffinity.of($0)) }
        for (old, new) in zip(before, after) { #expect(old == 1 ? new != 1 : new == old) }
    }

    @Test("the next copy gets what is more than 1.25 times the mean; a few calls never are")
    func boundsLoad() throws {
        let pool = TestPool(copies: 4)
        let affinity: UInt64 = 99
        let home = try #require(pool.next(affinity))
        pool.begin(home, PoolState<Item>.callsThatFit)
        #expect(pool.next(affinity) == home)
        pool.begin(home, 100)
        let second = try #require(pool.next(affinity))
        #expect(second != home && pool.next(affinity) == second)
        for copy in 0..<4 where copy != home { pool.begin(copy, 110) }
        #expect(pool.next(affinity) == home, "all are as busy")
    }

    // MARK: Zones and records

    @Test("the own zone while it has a third of the copies that can work")
    func ownZone() {
        let pool = TestPool(copies: 6, zone: "a", zones: ["a", "b", "b", "a", "b", ""])
        #expect(Set(pool.shares(40).keys) == [0, 3])
        pool.say(3, isServing: false)
        #expect(pool.shares(100).count == 5, "one of five is too few")
        pool.say(1, isServing: false)
        pool.say(2, isServing: false)
        #expect(pool.shares(20) == [0: 20], "one of three is enough")
        let failed = PoolState<Item>.Choice(connection: pool.items[0], copy: 0)
        let retry = pool.next(otherThan: failed)
        #expect(retry == 4 || retry == 5, "a retry may leave the zone")
    }

    @Test("without a zone, or where nobody says one, all copies are alike")
    func noZone() {
        let old = TestPool(copies: 3, zone: "a")
        #expect(old.shares(60).count == 3)
        let here = TestPool(copies: 3, zones: ["a", "b", "c"])
        #expect(here.shares(60).count == 3)
    }

    @Test("copies of a higher priority number get calls when none of a lower one can work")
    func priorities() {
        let pool = TestPool(copies: 3, ranks: [CopyRank(priority: 10), CopyRank(priority: 10), CopyRank(priority: 20)])
        #expect(Set(pool.shares(20).keys) == [0, 1])
        pool.say(0, isServing: false)
        #expect(pool.shares(20) == [1: 20])
        #expect(pool.next(otherThan: PoolState<Item>.Choice(connection: pool.items[1], copy: 1)) == 2)
        pool.say(1, isServing: false)
        #expect(pool.shares(20) == [2: 20])
    }

    @Test("calls are shared by weight, and load counts for its weight")
    func weights() {
        let pool = TestPool(copies: 3, ranks: [CopyRank(weight: 64), CopyRank(weight: 192), CopyRank(weight: 1)])
        let shares = pool.shares(4000)
        #expect((800...1200).contains(shares[0] ?? 0) && (2800...3200).contains(shares[1] ?? 0) && (shares[2] ?? 0) < 60, "\(shares)")
        pool.begin(1, 10)
        #expect((pool.shares(1000)[0] ?? 0) > 350)
    }
}

/// Numbers as the affinities of calls are.
private enum CallContextAffinity {
    static func of(_ number: UInt64) -> UInt64 { Rendezvous.key(of: "device-\(number)") }
}
