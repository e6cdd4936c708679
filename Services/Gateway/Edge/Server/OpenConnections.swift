internal import CoreMetrics
internal import NIOCore
internal import Synchronization

/// The connections of all listeners: how many there may be, and of whom.
///
/// When there is no room, one that has been idle goes, an old one first. The last places are kept for addresses that have none yet, so that health
/// checks and newcomers are served however many connections one address opens.
final class OpenConnections: Sendable {
    /// One connection, as long as it is open.
    struct Place: Hashable, Sendable {
        fileprivate let number: UInt64
        fileprivate let key: AddressKey?
    }

    private struct Entry {
        let key: AddressKey?
        let close: @Sendable () -> Void
        /// Changes each time the connection becomes idle; 0 while it is not.
        var idleStamp: UInt64
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var counts: [AddressKey: Int] = [:]
        /// In the order in which they became idle; what is idle no more, or again, is passed over.
        var idle = CircularBuffer<(number: UInt64, stamp: UInt64)>()
        var lastNumber: UInt64 = 0
        var lastStamp: UInt64 = 0
    }

    private let limits: ConnectionLimits
    private let trusted: [AddressRange]
    /// Places for addresses that have no connection yet.
    private let reserve: Int
    private let state = Mutex(State())
    private let unsent: HeldOctets
    private let open: Gauge
    private let refused: Counter
    private let evicted: Counter

    /// - Parameters:
    ///   - trusted: Proxies, each of which stands for many people: no limit by address.
    ///   - listenerKind: The kind of its listeners; that for administration is counted apart.
    ///   - unsent: The answers that they may hold.
    init(_ limits: ConnectionLimits, trusted: [AddressRange] = [], listenerKind: ListenerKind = .everybody, unsent: HeldOctets = HeldOctets()) {
        let name = listenerKind == .administration ? "boxoffice_gateway_admin_connections" : "boxoffice_gateway_connections"
        open = Gauge(label: name)
        refused = Counter(label: name + "_refused_total")
        evicted = Counter(label: name + "_evicted_total")
        self.limits = limits
        self.trusted = trusted
        reserve = limits.maximum / 16
        self.unsent = unsent
    }

    /// - Parameters:
    ///   - address: The address of the other end; `nil` when the transport does not tell.
    ///   - close: Closes the connection; called at most once, from any thread.
    /// - Returns: `nil` when there is no room.
    func enter(_ address: IPAddress?, close: @escaping @Sendable () -> Void) -> Place? {
        let key = address.flatMap { address in trusted.contains { $0.contains(address) } ? nil : AddressKey(address) }
        let most = address.map(mostConnections) ?? limits.maximum
        var victim: (@Sendable () -> Void)?
        let place: Place? = state.withLock { state in
            let own = key.map { state.counts[$0] ?? 0 } ?? 0
            guard key == nil || own < most else { return nil }
            let isNew = key == nil || own == 0
            if state.entries.count >= limits.maximum - (isNew ? 0 : reserve) {
                victim = Self.takeIdle(&state)
                guard victim != nil else { return nil }
            }
            state.lastNumber += 1
            state.lastStamp += 1
            state.entries[state.lastNumber] = Entry(key: key, close: close, idleStamp: state.lastStamp)
            state.idle.append((state.lastNumber, state.lastStamp))
            if let key { state.counts[key] = own + 1 }
            open.record(state.entries.count)
            return Place(number: state.lastNumber, key: key)
        }
        if let victim {
            evicted.increment()
            victim()
        }
        if place == nil { refused.increment() }
        return place
    }

    func leave(_ place: Place) {
        state.withLock { Self.remove(place.number, &$0) }
        unsent.leave(place.number)
    }

    /// The connection holds so many octets more, of an answer that its client has not read or of a request's body.
    func keep(_ octets: Int, of place: Place) {
        guard let close = state.withLock({ $0.entries[place.number]?.close }) else { return }
        unsent.keep(octets, of: place.number, close: close)
    }

    /// It holds so many less.
    func letGo(_ octets: Int, of place: Place) { unsent.letGo(octets, of: place.number) }

    /// A request is under way.
    func markBusy(_ place: Place) { state.withLock { $0.entries[place.number]?.idleStamp = 0 } }

    /// Each request of the connection has been answered.
    func markIdle(_ place: Place) {
        state.withLock { state in
            guard state.entries[place.number] != nil else { return }
            state.lastStamp += 1
            state.entries[place.number]?.idleStamp = state.lastStamp
            state.idle.append((place.number, state.lastStamp))
            // A busy cluster writes many entries that mean nothing any more.
            if state.idle.count > 4 * state.entries.count + 1024 { Self.compact(&state) }
        }
    }

    private func mostConnections(_ address: IPAddress) -> Int {
        limits.backends.contains { $0.contains(address) } ? limits.perBackend : limits.perAddress
    }

    private static func takeIdle(_ state: inout State) -> (@Sendable () -> Void)? {
        while let (number, stamp) = state.idle.popFirst() {
            guard let entry = state.entries[number], entry.idleStamp == stamp else { continue }
            remove(number, &state)
            return entry.close
        }
        return nil
    }

    private static func remove(_ number: UInt64, _ state: inout State) {
        guard let entry = state.entries.removeValue(forKey: number), let key = entry.key else { return }
        let left = (state.counts[key] ?? 1) - 1
        state.counts[key] = left > 0 ? left : nil
    }

    private static func compact(_ state: inout State) {
        state.idle = CircularBuffer(state.idle.filter { state.entries[$0.number]?.idleStamp == $0.stamp })
    }
}

/// The octets that connections hold in memory. They are answers that the system has not taken yet, as clients do not read them, and bodies of
/// requests until their answers.
///
/// A connection of HTTP/1.1 holds one answer, and what the channel has buffered before. One of HTTP/2 holds at most `mostOfOne` of answers, and
/// begins no request above `startsBelow`. Each body counts with its own bound, and a waiting stream with its window of 64 KiB. When all hold more
/// than `mostInAll`, the connection that holds most is closed.
final class HeldOctets: Sendable {
    /// The limit for answers of one connection, in octets. A longer answer is given where nothing else is held; any other is taken back with its
    /// stream.
    static let mostOfOne = 32 << 20
    /// The limit for answers of one connection of HTTP/2, in octets: while it holds more, its next requests wait.
    static let startsBelow = 1 << 20
    /// The limit for all connections of a kind of listener, in octets.
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

    /// - Parameter most: The limit for all, in octets.
    init(most: Int = HeldOctets.mostInAll) { self.most = most }

    /// The sum that all hold, in octets.
    var total: Int { state.withLock { $0.total } }

    /// - Parameters:
    ///   - octets: Held from now on.
    ///   - number: The number of the connection.
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
