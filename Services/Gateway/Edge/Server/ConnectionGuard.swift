internal import NIOCore

/// First in the pipeline of a connection: closes it when its time is over, and counts what it holds of answers.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// True: every byte between two requests belongs to the next. Not so in HTTP/2, where pings and settings come at any time.
    var bytesBeginRequests: Bool
    private var times: ConnectionTimes
    private var context: ChannelHandlerContext?
    private var timer: (task: Scheduled<Void>, at: NIODeadline)?

    private let place: OpenConnections.Place
    private let connections: OpenConnections
    private var requests = 0
    /// The turns of HTTP/2; `nil`: the connection speaks HTTP/1.1.
    let streams: StreamTurns?
    /// Octets of answers that are not sent yet.
    private var unsent = 0

    init(
        _ limits: ConnectionLimits, place: OpenConnections.Place, among connections: OpenConnections, streams: StreamTurns? = nil,
        bytesBeginRequests: Bool
    ) {
        self.streams = streams
        self.place = place
        self.connections = connections
        times = ConnectionTimes(limits, now: .now())
        self.bytesBeginRequests = bytesBeginRequests
    }

    func requestBegan() {
        requests += 1
        if requests == 1 { connections.markBusy(place) }
        times.requestBegan()
    }

    func requestEnded() {
        requests -= 1
        if requests == 0 { connections.markIdle(place) }
        times.requestEnded(at: .now())
        arm()
    }

    /// An answer was given.
    /// - Returns: False when there is no room for it; then it does not count.
    func keep(_ octets: Int) -> Bool {
        guard unsent + octets <= HeldOctets.mostOfOne || unsent == 0 else { return false }
        unsent += octets
        connections.keep(octets, of: place)
        streams?.unsent = unsent
        return true
    }

    /// An answer was sent, or is no longer wanted.
    func letGo(_ octets: Int) {
        guard octets > 0 else { return }
        unsent -= octets
        connections.letGo(octets, of: place)
        streams?.unsent = unsent
    }

    /// A part of a body came.
    func receive(_ octets: Int) { connections.keep(octets, of: place) }

    /// The body is needed no more.
    func forget(_ octets: Int) { if octets > 0 { connections.letGo(octets, of: place) } }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        arm()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        self.context = nil
        streams?.end()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if bytesBeginRequests { times.receivedBytes(at: .now()) }
        context.fireChannelRead(data)
        arm()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output {
            times.outputClosed(at: .now())
            arm()
        }
        context.close(mode: mode, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, times.stop(at: .now()) {
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
        arm()
    }

    /// A task that stands for a later time is left alone when it is due earlier than needed: it looks again.
    private func arm() {
        guard let context, let deadline = times.deadline else { return }
        if let timer {
            guard deadline < timer.at else { return }
            timer.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.expired() }
        timer = (task, deadline)
    }

    private func expired() {
        timer = nil
        guard let context, let deadline = times.deadline else { return }
        if deadline <= .now() { context.close(promise: nil) } else { arm() }
    }
}

/// The time that a connection may stay, as a pure state machine. A client must send a whole head in time and may be idle only for a while. When the
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
