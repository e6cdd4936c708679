/// When the peer was last heard (in time since the connection's start), and when to ask whether it is there. It also says when the connection has
/// been idle for too long.
struct Liveness: Sendable {
    enum Event: Hashable, Sendable {
        case ping(nonce: UInt64)
        case deadPeer
        case idle
    }

    private let pingInterval: Duration?
    private let pingTimeout: Duration
    private let idleTimeout: Duration?

    private var lastHeard = Duration.zero
    private var lastBusy = Duration.zero
    private var pingSent: Duration?
    private(set) var lastNonce: UInt64 = 0

    init(_ settings: ConnectionSettings) {
        pingInterval = settings.pingInterval
        pingTimeout = settings.pingTimeout
        idleTimeout = settings.idleTimeout
    }

    mutating func heard(_ now: Duration) {
        lastHeard = now
        pingSent = nil
    }

    mutating func busy(_ now: Duration) { lastBusy = now }

    func next(isBusy: Bool) -> Duration? {
        let idle = isBusy ? nil : idleTimeout.map { lastBusy + $0 }
        return Duration.earliest(silence, idle)
    }

    mutating func advance(to now: Duration, isBusy: Bool) -> Event? {
        if let silence, silence <= now { return pingSent == nil ? ping(now) : .deadPeer }
        if !isBusy, let idleTimeout, lastBusy + idleTimeout <= now { return .idle }
        return nil
    }

    /// The peer's silence has a consequence at this time.
    private var silence: Duration? {
        if let pingSent { return pingSent + pingTimeout }
        return pingInterval.map { lastHeard + $0 }
    }

    private mutating func ping(_ now: Duration) -> Event {
        pingSent = now
        lastNonce += 1
        return .ping(nonce: lastNonce)
    }
}

extension Duration {
    /// The earlier of two moments that may not be.
    static func earliest(_ left: Self?, _ right: Self?) -> Self? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }
}
