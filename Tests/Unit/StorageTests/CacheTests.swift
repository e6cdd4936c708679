import Memos
import Storage
import Testing

struct CacheTests {
    @Test("A cache never grows past its capacity and keeps what is used")
    func staysBounded() {
        var cache = BoundedCache<Int, Int>(capacity: 100)
        for number in 0..<10_000 {
            cache[number] = number
            #expect(cache[0] == 0)
            #expect(cache.count <= 100)
        }
        #expect(cache[9_999] == 9_999)
        #expect(cache[5_000] == nil)
    }

    @Test("A removed entry is gone, from either generation")
    func removes() {
        var cache = BoundedCache<Int, Int>(capacity: 4)
        for number in 0..<3 { cache[number] = number }
        for number in 0..<3 {
            cache[number] = nil
            #expect(cache[number] == nil)
        }
        #expect(cache.count == 0)
    }

    @Test("What was read before a change is not kept after it")
    func refusesStaleReads() {
        let cache = CoherentCache<Int, String>(capacity: 16, changes: nil)
        guard case .miss(let epoch) = cache.lookup(1) else {
            Issue.record("an empty cache has an entry")
            return
        }
        cache.forget(1)
        cache.offer("old", for: 1, readIn: epoch)
        guard case .miss(let fresh) = cache.lookup(1) else {
            Issue.record("a stale entry was kept")
            return
        }
        cache.offer("new", for: 1, readIn: fresh)
        guard case .hit("new") = cache.lookup(1) else {
            Issue.record("a fresh entry was not kept")
            return
        }
        #expect(cache.count == 1)
        cache.forgetAll()
        #expect(cache.count == 0)
        guard case .miss = cache.lookup(1) else {
            Issue.record("a forgotten entry was kept")
            return
        }
    }

    @Test("A value that a commit wrote is kept, and nothing older takes its place")
    func replaces() {
        let cache = CoherentCache<Int, String>(capacity: 16, changes: nil)
        guard case .miss(let epoch) = cache.lookup(1) else {
            Issue.record("an empty cache has an entry")
            return
        }
        cache.replace(1, with: "new")
        cache.offer("old", for: 1, readIn: epoch)
        guard case .hit("new") = cache.lookup(1) else {
            Issue.record("an older value was kept")
            return
        }
    }

    @Test("A change of one key lets most others be kept, and a change of all none")
    func countsChangesByKey() {
        let cache = CoherentCache<Int, Int>(capacity: 1024, changes: nil)
        var epochs: [(Int, CoherentCache<Int, Int>.Epoch)] = []
        for key in 1...256 {
            if case .miss(let epoch) = cache.lookup(key) { epochs.append((key, epoch)) }
        }
        cache.forget(0)
        for (key, epoch) in epochs { cache.offer(key, for: key, readIn: epoch) }
        let kept = (1...256).count { if case .hit = cache.lookup($0) { true } else { false } }
        #expect(kept > 200)
        guard case .miss(let epoch) = cache.lookup(0) else { return }
        cache.forgetAll()
        cache.offer(0, for: 0, readIn: epoch)
        guard case .miss = cache.lookup(0) else {
            Issue.record("a stale entry was kept")
            return
        }
    }
}
