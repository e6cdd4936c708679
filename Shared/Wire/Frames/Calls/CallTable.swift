/// The calls in flight of one connection by id. The table is open addressing over ids that mostly follow one another, so that a call costs a few
/// nanoseconds.
///
/// Ids are the peer's choice; the worst that it can choose costs a walk over the calls in flight, which are limited.
struct CallTable<Call: Sendable>: Sendable {
    private struct Slot: Sendable {
        /// 0 for an empty slot: no call has that id.
        var id: UInt64
        var call: Call?
    }

    private var slots: ContiguousArray<Slot>
    private(set) var count = 0

    init() {
        slots = ContiguousArray(repeating: Slot(id: 0, call: nil), count: 16)
    }

    var isEmpty: Bool { count == 0 }

    /// In no order.
    var ids: [UInt64] { slots.compactMap { $0.id == 0 ? nil : $0.id } }

    subscript(id: UInt64) -> Call? {
        guard let place = find(id) else { return nil }
        return slots[place].call
    }

    /// - Parameter id: Not 0 and not in the table.
    mutating func insert(_ call: Call, id: UInt64) {
        if (count + 1) * 2 > slots.count { grow() }
        put(Slot(id: id, call: call))
        count += 1
    }

    @discardableResult
    mutating func remove(_ id: UInt64) -> Call? {
        guard let place = find(id) else { return nil }
        let call = slots[place].call
        close(place)
        count -= 1
        return call
    }

    func forEach(_ body: (UInt64, Call) -> Void) {
        for slot in slots {
            if let call = slot.call { body(slot.id, call) }
        }
    }

    private var mask: Int { slots.count - 1 }

    private func home(_ id: UInt64) -> Int { Int(truncatingIfNeeded: id) & mask }

    private func find(_ id: UInt64) -> Int? {
        guard id != 0 else { return nil }
        var place = home(id)
        while slots[place].id != id {
            if slots[place].id == 0 { return nil }
            place = (place + 1) & mask
        }
        return place
    }

    private mutating func put(_ slot: Slot) {
        var place = home(slot.id)
        while slots[place].id != 0 { place = (place + 1) & mask }
        slots[place] = slot
    }

    /// Empties a slot and moves up those behind it that would no longer be found.
    private mutating func close(_ place: Int) {
        var gap = place
        var next = (place + 1) & mask
        while slots[next].id != 0 {
            let distance = (next - home(slots[next].id)) & mask
            if distance >= (next - gap) & mask {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = Slot(id: 0, call: nil)
    }

    private mutating func grow() {
        let old = slots
        slots = ContiguousArray(repeating: Slot(id: 0, call: nil), count: old.count * 2)
        for slot in old where slot.id != 0 { put(slot) }
    }
}
