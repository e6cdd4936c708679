/// First in, first out, over an array that is emptied from its front.
struct SlotQueue {
    private var slots: [Int] = []
    private var start = 0

    var isEmpty: Bool { start == slots.count }
    var count: Int { slots.count - start }
    var first: Int? { isEmpty ? nil : slots[start] }

    mutating func append(_ slot: Int) { slots.append(slot) }

    mutating func popFirst() -> Int? {
        guard !isEmpty else { return nil }
        let slot = slots[start]
        start += 1
        if start == slots.count {
            slots.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 1024, start * 2 > slots.count {
            slots.removeFirst(start)
            start = 0
        }
        return slot
    }
}
