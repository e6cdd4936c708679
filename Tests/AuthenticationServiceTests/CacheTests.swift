import Clocks
import Testing

@testable import AuthenticationService

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
        let cache = CoherentCache<SessionKey, SessionRecord>(capacity: 16)
        let session = Sample.session()
        guard case .miss(let epoch) = cache.lookup(session.key) else {
            Issue.record("an empty cache has no session")
            return
        }
        cache.forget(session.key)
        cache.offer(session, for: session.key, readIn: epoch)
        guard case .miss(let fresh) = cache.lookup(session.key) else {
            Issue.record("a stale session was kept")
            return
        }
        cache.offer(session, for: session.key, readIn: fresh)
        guard case .hit(session) = cache.lookup(session.key) else {
            Issue.record("a fresh session was not kept")
            return
        }
    }
}
