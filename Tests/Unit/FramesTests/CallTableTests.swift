import Testing

@testable import Frames

@Suite struct CallTableTests {
    @Test("agrees with a dictionary under any order of insertions and removals", arguments: [1, 16, 64] as [UInt64])
    func agreesWithADictionary(_ step: UInt64) {
        var generator = SplitMix(state: step)
        var table = CallTable<Int>()
        var dictionary: [UInt64: Int] = [:]
        for round in 1...5000 {
            let id = UInt64.random(in: 1...200, using: &generator) * step
            if dictionary[id] == nil {
                table.insert(round, id: id)
                dictionary[id] = round
            } else {
                #expect(table.remove(id) == dictionary.removeValue(forKey: id))
            }
            guard table.count == dictionary.count, table.ids.sorted() == dictionary.keys.sorted() else {
                Issue.record("the two differ after round \(round)")
                return
            }
        }
        for (id, call) in dictionary { #expect(table[id] == call) }
    }

    @Test func knowsNothingOfIdsThatWereNotInserted() {
        var table = CallTable<Int>()
        #expect(table[0] == nil)
        #expect(table[1] == nil)
        #expect(table.remove(1) == nil)
        table.insert(5, id: .max)
        #expect(table[.max] == 5)
        #expect(table[15] == nil)
        #expect(!table.isEmpty)
    }

    @Test func remembersCancelledCallsAndForgetsTheOldestSafely() {
        var cancelled = CancelledCalls()
        #expect(!cancelled.contains(1))
        for id in 1...3000 as ClosedRange<UInt64> where id != 2500 { cancelled.insert(id) }
        #expect(cancelled.contains(3000))
        #expect(cancelled.contains(1))
        #expect(!cancelled.contains(2500))
        #expect(!cancelled.contains(3001))
    }
}

/// A small generator with a seed, so that a failure can be repeated.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
