/// The users that pause, with the end of each pause: a binary heap, the earliest first.
struct PauseQueue {
    private var heap: [(until: Nanoseconds, slot: Int)] = []

    var isEmpty: Bool { heap.isEmpty }
    var earliest: Nanoseconds? { heap.first?.until }

    mutating func insert(_ slot: Int, until moment: Nanoseconds) {
        heap.append((moment, slot))
        var place = heap.count - 1
        while place > 0, heap[place].until < heap[(place - 1) / 2].until {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// - Returns: The earliest pause that has ended; `nil` when none has.
    mutating func popDue(_ now: Nanoseconds) -> (until: Nanoseconds, slot: Int)? {
        guard let first = heap.first, first.until <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].until < heap[least].until { least = child }
            if least == place { return first }
            heap.swapAt(place, least)
            place = least
        }
    }

    /// Empties it.
    mutating func removeAll() -> [Int] {
        defer { heap = [] }
        return heap.map(\.slot)
    }
}
