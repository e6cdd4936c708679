internal import CoreMetrics
internal import Synchronization

/// What connections hold in memory: answers that clients do not read, until the system has taken them, and bodies of requests, until these are answered.
///
/// Of answers, a connection of HTTP/1.1 holds one, and what the channel has buffered before; one of HTTP/2 holds at most `mostOfOne`, and begins no request above
/// `startsBelow`. Of each body its own bound is held, of a stream that waits its window of 64 KiB. When all hold more than `mostInAll`, the connection that holds most is closed.
final class HeldOctets: Sendable {
    /// Of answers of one connection, in octets: a longer answer is given where nothing else is held, any other is taken back with its stream.
    static let mostOfOne = 32 << 20
    /// Of answers of one connection of HTTP/2, in octets: while it holds more, its next requests wait.
    static let startsBelow = 1 << 20
    /// Of all connections of a kind of listener, in octets.
    static let mostInAll = 256 << 20

    private struct Holder {
        var octets = 0
        let close: @Sendable () -> Void
    }

    private struct State {
        var holders: [UInt64: Holder] = [:]
        var total = 0
    }

    private let most: Int
    private let state = Mutex(State())
    private let closed = Counter(label: "boxoffice_gateway_memory_closed_total")

    /// - Parameter most: Of all, in octets.
    init(most: Int = HeldOctets.mostInAll) { self.most = most }

    /// What all hold, in octets.
    var total: Int { state.withLock { $0.total } }

    /// - Parameters:
    ///   - octets: Held from now on.
    ///   - number: Of the connection.
    ///   - close: Closes it; called at most once for each time that it holds something, from any thread.
    func keep(_ octets: Int, of number: UInt64, close: @escaping @Sendable () -> Void) {
        let victim: (@Sendable () -> Void)? = state.withLock { state in
            state.total += octets
            state.holders[number, default: Holder(close: close)].octets += octets
            guard state.total > most, let (number, holder) = state.holders.max(by: { $0.value.octets < $1.value.octets }) else { return nil }
            // It counts no more: its memory is given back as soon as it is closed.
            state.total -= holder.octets
            state.holders[number] = nil
            return holder.close
        }
        guard let victim else { return }
        closed.increment()
        victim()
    }

    func letGo(_ octets: Int, of number: UInt64) {
        state.withLock { state in
            guard let held = state.holders[number]?.octets else { return }
            let gone = min(octets, held)
            state.total -= gone
            if held == gone { state.holders[number] = nil } else { state.holders[number]?.octets = held - gone }
        }
    }

    /// The connection is over.
    func leave(_ number: UInt64) {
        state.withLock { state in state.total -= state.holders.removeValue(forKey: number)?.octets ?? 0 }
    }
}
