import Testing

import Memos

@Suite("Memo")
struct MemoTests {
    @Test("computes once for a key, and again for another")
    func computesOnce() {
        let memo = Memo<String, Int>(capacity: 4)
        #expect(memo.value("a") { 1 } == 1)
        #expect(memo.value("a") { 2 } == 1)
        #expect(memo.value("b") { 3 } == 3)
    }

    @Test("forgets what was not asked for when it is full, and keeps what is asked for")
    func isBounded() {
        let memo = Memo<Int, Int>(capacity: 4)
        _ = memo.value(0) { 0 }
        _ = memo.value(1) { 1 }
        for key in 2..<20 {
            _ = memo.value(key) { key }
            #expect(memo.value(0) { -1 } == 0, "asked for all the time")
        }
        #expect(memo.value(1) { -1 } == -1, "asked for once, long ago")
    }

    @Test("a key whose computation failed is computed again")
    func keepsNoFailure() throws {
        struct Problem: Error {}
        let memo = Memo<Int, Int>(capacity: 2)
        #expect(throws: Problem.self) { try memo.value(1) { throw Problem() } }
        #expect(memo.value(1) { 5 } == 5)
    }

    @Test("what was computed elsewhere is kept like what it computes")
    func keepsWhatIsSet() {
        let memo = Memo<Int, Int>(capacity: 2)
        #expect(memo[1] == nil)
        memo[1] = 7
        #expect(memo[1] == 7)
        memo[1] = nil
        #expect(memo.value(1) { -1 } == 7)
    }
}
