internal import NIOCore
internal import Synchronization

/// Connections that have not finished their TLS handshake: their peers are unknown yet, so they take no place from known ones.
///
/// There may be so many of one address and so many in all. One more closes the oldest. A peer that speaks TLS is through in a few milliseconds; one
/// that opens sockets and is silent holds them for seconds.
final class Handshakes: Sendable {
    struct Ticket: Sendable {
        fileprivate let number: UInt64
    }

    private struct Entry {
        let address: String
        let close: @Sendable () -> Void
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        /// Oldest first.
        var byAddress: [String: [UInt64]] = [:]
        /// Oldest first; those that have ended are passed over.
        var order = CircularBuffer<UInt64>()
        var last: UInt64 = 0
    }

    private let limit: Int
    private let limitPerAddress: Int
    private let state = Mutex(State())

    init(limit: Int, perAddress: Int) {
        self.limit = limit
        limitPerAddress = perAddress
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// - Parameters:
    ///   - address: The address of the peer, without its port.
    ///   - close: Closes the connection; from any thread.
    /// - Returns: The ticket, and whether another handshake was ended for it.
    func enter(_ address: String, close: @escaping @Sendable () -> Void) -> (ticket: Ticket, endedOne: Bool) {
        let (number, victim) = state.withLock { state -> (UInt64, Entry?) in
            let oldest = (state.byAddress[address]?.count ?? 0) >= limitPerAddress ? state.byAddress[address]?.first : nil
            let victim = oldest.map { Self.remove($0, &state) } ?? (state.entries.count >= limit ? Self.removeOldest(&state) : nil)
            state.last += 1
            state.entries[state.last] = Entry(address: address, close: close)
            state.byAddress[address, default: []].append(state.last)
            state.order.append(state.last)
            if state.order.count > 4 * limit { state.order = CircularBuffer(state.order.filter { state.entries[$0] != nil }) }
            return (state.last, victim)
        }
        victim?.close()
        return (Ticket(number: number), victim != nil)
    }

    /// The handshake is over, one way or the other. May be called again.
    func leave(_ ticket: Ticket) { state.withLock { _ = Self.remove(ticket.number, &$0) } }

    private static func removeOldest(_ state: inout State) -> Entry? {
        while let number = state.order.popFirst() {
            if let entry = remove(number, &state) { return entry }
        }
        return nil
    }

    private static func remove(_ number: UInt64, _ state: inout State) -> Entry? {
        guard let entry = state.entries.removeValue(forKey: number) else { return nil }
        state.byAddress[entry.address]?.removeAll { $0 == number }
        if state.byAddress[entry.address]?.isEmpty == true { state.byAddress[entry.address] = nil }
        return entry
    }
}
