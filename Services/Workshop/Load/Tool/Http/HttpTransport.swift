internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS

/// Calls over HTTP/1.1: one at a time on each connection, the one that was used last first.
///
/// `@unchecked Sendable`: touched on its event loop only.
final class HttpTransport: CallTransport, @unchecked Sendable {
    /// The transport looks for calls past their deadline this often.
    private static let sweep = TimeAmount.milliseconds(10)

    weak var sink: (any CallSink)?
    private let target: HttpTarget
    private let count: Int
    private let eventLoop: any EventLoop
    private var idle: [HttpConnection] = []
    private var busy: [ObjectIdentifier: HttpConnection] = [:]
    private var failures = 0
    private var isOver = false
    private var ready: EventLoopPromise<Void>?
    private var sweeper: RepeatedTask?

    /// - Parameter connections: The connections of this worker.
    init(_ target: HttpTarget, connections: Int, on eventLoop: any EventLoop) {
        self.target = target
        count = connections
        self.eventLoop = eventLoop
    }

    /// Connects. Only on the event loop.
    /// - Returns: Fails when one of the connections cannot be opened.
    func connect() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        ready = promise
        for _ in 0..<count { dial() }
        sweeper = eventLoop.scheduleRepeatedTask(initialDelay: Self.sweep, delay: Self.sweep) { _ in self.endLate() }
        return promise.futureResult
    }

    var room: Int { idle.count }

    var openConnections: Int { idle.count + busy.count }

    func send(_ call: Call, ticket: Int, now: Nanoseconds, deadline: Nanoseconds) {
        guard let connection = idle.popLast() else { return }
        busy[ObjectIdentifier(connection)] = connection
        connection.send(call, ticket: ticket, deadline: deadline)
    }

    func shutDown() {
        isOver = true
        sweeper?.cancel()
        for connection in idle + Array(busy.values) { connection.abandon() }
        (idle, busy) = ([], [:])
    }

    // MARK: Connections

    private func dial() {
        let events = HttpConnection.Events(
            opened: { self.opened($0) }, answered: { self.answered($0, $1, $2) }, closed: { self.closed($0, $1, $2) })
        let (target, eventLoop) = (target, eventLoop)
        ClientBootstrap(group: eventLoop)
            .connectTimeout(.seconds(5))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let connection = HttpConnection(waitsForTLS: target.tls != nil, events: events)
                    if let tls = target.tls {
                        let isName = (try? SocketAddress(ipAddress: target.host, port: 0)) == nil
                        try channel.pipeline.syncOperations.addHandlers(
                            NIOSSLClientHandler(context: tls, serverHostname: isName ? target.host : nil), TlsNotice(connection))
                    }
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
            .connect(host: target.host, port: target.port)
            .whenFailure { error in self.gone(error) }
    }

    private func opened(_ connection: HttpConnection) {
        guard !isOver else { return connection.abandon() }
        failures = 0
        idle.append(connection)
        if openConnections == count {
            ready?.succeed()
            ready = nil
        }
        sink?.transportChanged()
    }

    private func answered(_ connection: HttpConnection, _ ticket: Int, _ whole: HttpAnswerParser.Whole) {
        busy[ObjectIdentifier(connection)] = nil
        if whole.closes || !target.keepAlive {
            connection.abandon()
        } else {
            idle.append(connection)
        }
        var answer = whole.answer
        if answer.failure != nil { answer.message = String(decoding: answer.body.prefix(200), as: UTF8.self) }
        sink?.ended(ticket, answer, bytes: whole.byteCount)
    }

    private func closed(_ connection: HttpConnection, _ lost: Int?, _ error: (any Error)?) {
        idle.removeAll { $0 === connection }
        busy[ObjectIdentifier(connection)] = nil
        if let lost {
            sink?.ended(lost, Answer(failure: "connection_lost", message: error.map { "\($0)" } ?? "The server closed the connection."), bytes: 0)
        }
        guard !isOver else { return }
        // A connection that carried calls is replaced at once, any other after a pause.
        if connection.calls > 0 {
            dial()
            sink?.transportChanged()
        } else {
            gone(error ?? ChannelError.eof)
        }
    }

    /// A connection could not be opened.
    private func gone(_ error: any Error) {
        guard !isOver else { return }
        if let ready {
            self.ready = nil
            isOver = true
            sweeper?.cancel()
            return ready.fail(error)
        }
        failures += 1
        sink?.transportChanged()
        let delay = TimeAmount.milliseconds(Int64(min(1000, 50 << min(failures, 5))))
        eventLoop.assumeIsolated().scheduleTask(in: delay) {
            if !self.isOver { self.dial() }
        }
    }

    private func endLate() {
        let now = LoadClock.now
        for connection in Array(busy.values) where connection.deadline <= now {
            guard let ticket = connection.ticket else { continue }
            busy[ObjectIdentifier(connection)] = nil
            connection.abandon()
            sink?.ended(ticket, Answer(failure: "timeout", message: "No whole answer came in time."), bytes: 0)
        }
    }
}

/// Tells the connection of the end of the TLS handshake.
private final class TlsNotice: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let connection: HttpConnection

    init(_ connection: HttpConnection) { self.connection = connection }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { connection.established() }
        context.fireUserInboundEventTriggered(event)
    }
}
