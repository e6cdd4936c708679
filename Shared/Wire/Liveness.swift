/// When the peer was last heard, when to ask whether it is there, and when the connection has been idle for too long.
struct Liveness: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Event: Hashable, Sendable {
        case ping(nonce: UInt64)
        case deadPeer
        case idle
    }

    private let pingInterval: Duration?
    private let pingTimeout: Duration
    private let idleTimeout: Duration?

    private(set) var lastHeard: Instant
    private var lastBusy: Instant
    private var pingSent: Instant?
    private(set) var lastNonce: UInt64 = 0

    init(_ settings: ConnectionSettings, now: Instant) {
        pingInterval = settings.pingInterval
        pingTimeout = settings.pingTimeout
        idleTimeout = settings.idleTimeout
        lastHeard = now
        lastBusy = now
    }

    mutating func heard(_ now: Instant) {
        lastHeard = now
        pingSent = nil
    }

    mutating func busy(_ now: Instant) { lastBusy = now }

    func next(isBusy: Bool) -> Instant? {
        let idle = isBusy ? nil : idleTimeout.map { lastBusy.advanced(by: $0) }
        return Instant.earliest(silence, idle)
    }

    mutating func advance(to now: Instant, isBusy: Bool) -> Event? {
        if let silence, silence <= now { return pingSent == nil ? ping(now) : .deadPeer }
        if !isBusy, let idleTimeout, lastBusy.advanced(by: idleTimeout) <= now { return .idle }
        return nil
    }

    /// When the peer's silence has a consequence.
    private var silence: Instant? {
        if let pingSent { return pingSent.advanced(by: pingTimeout) }
        return pingInterval.map { lastHeard.advanced(by: $0) }
    }

    private mutating func ping(_ now: Instant) -> Event {
        pingSent = now
        lastNonce += 1
        return .ping(nonce: lastNonce)
    }
}

extension ContinuousClock.Instant {
    static func earliest(_ left: Self?, _ right: Self?) -> Self? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }
}
