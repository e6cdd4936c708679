internal import NIOCore

/// How long a connection may stay, as a pure state machine: a client must send a whole head in time and may be idle only for a while, and when the
/// gateway stops, every connection ends. Bodies have their own time (`RequestGuard`).
struct ConnectionTimes {
    private enum Phase {
        /// Nothing whole has come yet: a handshake or the first head is under way.
        case opening(until: NIODeadline)
        case idle(until: NIODeadline)
        /// A later head has begun.
        case arriving(until: NIODeadline)
        case serving(requests: Int)
    }

    private let head: TimeAmount
    private let idle: TimeAmount
    private let drain: TimeAmount
    private static let farewell: TimeAmount = .seconds(2)

    private var phase: Phase
    private var end: NIODeadline?

    init(_ limits: ConnectionLimits, now: NIODeadline) {
        head = TimeAmount(limits.head)
        idle = TimeAmount(limits.idle)
        drain = TimeAmount(limits.drain)
        phase = .opening(until: now + head)
    }

    /// When the connection must be closed, as things stand.
    var deadline: NIODeadline? {
        let current: NIODeadline? =
            switch phase {
            case .opening(let until), .idle(let until), .arriving(let until): until
            case .serving: nil
            }
        guard let end else { return current }
        return current.map { min($0, end) } ?? end
    }

    /// Bytes came that belong to a request: between requests they begin the next one.
    mutating func receivedBytes(at now: NIODeadline) {
        guard case .idle(let until) = phase else { return }
        phase = .arriving(until: min(until, now + head))
    }

    mutating func requestBegan() {
        if case .serving(let requests) = phase { phase = .serving(requests: requests + 1) } else { phase = .serving(requests: 1) }
    }

    mutating func requestEnded(at now: NIODeadline) {
        guard case .serving(let requests) = phase else { return }
        phase = requests > 1 ? .serving(requests: requests - 1) : .idle(until: now + idle)
    }

    /// The gateway has said its last word; the other end may finish reading.
    mutating func outputClosed(at now: NIODeadline) { end = min(end ?? .distantFuture, now + Self.farewell) }

    /// The gateway stops.
    /// - Returns: True when nothing is lost by closing at once.
    mutating func stop(at now: NIODeadline) -> Bool {
        if case .opening = phase { return true }
        end = min(end ?? .distantFuture, now + drain)
        return false
    }
}
