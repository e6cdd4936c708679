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
        let cache = CoherentCache<Int, String>(capacity: 16)
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
        cache.forgetAll()
        guard case .miss = cache.lookup(1) else {
            Issue.record("a forgotten entry was kept")
            return
        }
    }
}
