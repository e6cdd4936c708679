internal import EventLoops
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdHTTP2
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import NIOTLS

/// Sets up each connection: its limits, TLS when there is a certificate, then HTTP/1.1 or the HTTP version that both ends prefer.
struct GatewayChannel: ServerChildChannel {
    enum Value: ServerChildChannelValue {
        case refused(any Channel)
        case plain(any Channel)
        case secure(EventLoopFuture<Conversation>, any Channel)

        var channel: any Channel {
            switch self {
            case .refused(let channel), .plain(let channel), .secure(_, let channel): channel
            }
        }
    }

    /// The result of the handshake.
    enum Conversation: Sendable {
        case http1
        case http2(HTTP2Channel.Value)
    }

    /// The buffer in which the kernel keeps answers that a client does not read.
    private static let sendOctets: SocketOptionValue = 128 * 1024

    private let http1: Http1Setup
    private let http2: HTTP2Channel
    private let certificate: HttpsCertificate?
    private let limits: ConnectionLimits
    private let connections: OpenConnections

    init(
        responder: @escaping HTTPChannelHandler.Responder, http1: Http1Setup, settings: GatewaySettings, certificate: HttpsCertificate?,
        connections: OpenConnections
    ) {
        self.http1 = http1
        self.certificate = certificate
        self.connections = connections
        limits = settings.connections
        http2 = HTTP2Channel(
            responder: responder,
            configuration: .init(
                idleTimeout: limits.idle, gracefulCloseTimeout: limits.drain,
                streamConfiguration: .init(additionalChannelHandlers: [RequestGuard(isStream: true, bodyTime: http1.bodyTime)])))
    }

    /// Never fails: a failure would end the listener, not only the connection.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = (channel.remoteAddress?.ipAddress).flatMap(IPAddress.init)
        guard let place = connections.enter(address, close: { channel.eventLoop.execute { channel.close(promise: nil) } }) else {
            return refuse(channel)
        }
        let loop = http1.loadShedder.admission.on(channel.eventLoop)
        loop.connectionOpened()
        channel.closeFuture.whenComplete { [connections] _ in
            loop.connectionClosed()
            connections.leave(place)
        }
        return attend(channel, place, logger).flatMapError { _ in refuse(channel) }
    }

    func handle(value: Value, logger: Logger) async {
        // The whole conversation stays on the connection's own event loop.
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            await converse(value, logger)
        }
    }

    private func converse(_ value: Value, _ logger: Logger) async {
        switch value {
        case .refused: return
        case .plain(let channel): try? await channel.closeFuture.get()
        case .secure(let result, let channel):
            // A handshake that failed has closed the connection.
            switch try? await result.get() {
            case .http1: try? await channel.closeFuture.get()
            case .http2(let connection): await http2.handle(value: connection, logger: logger)
            case nil: return
            }
        }
    }

    /// HTTP/2 on a connection without TLS, for tests: without a socket there is no handshake to agree in.
    func speak(on channel: any Channel, _ logger: Logger) -> EventLoopFuture<Value> {
        guard let place = connections.enter(nil, close: { channel.close(promise: nil) }) else { return refuse(channel) }
        do {
            let streams = StreamTurns(http1.loadShedder.admission.on(channel.eventLoop), eventLoop: channel.eventLoop)
            try channel.pipeline.syncOperations.addHandler(
                ConnectionGuard(limits, place: place, among: connections, streams: streams, bytesBeginRequests: false))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return speakHttp2(channel, logger).map { .secure(channel.eventLoop.makeSucceededFuture(.http2($0)), channel) }
    }

    private func attend(_ channel: any Channel, _ place: OpenConnections.Place, _ logger: Logger) -> EventLoopFuture<Value> {
        do {
            // A client that sends much at once has a little of it taken up in each round of the loop, as everybody.
            if let options = channel.syncOptions {
                try options.setOption(.maxMessagesPerRead, value: 1)
                try options.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Http1Bounds.oneRead))
                try? options.setOption(.socketOption(.so_sndbuf), value: Self.sendOctets)
            }
            let streams = certificate.map { _ in StreamTurns(http1.loadShedder.admission.on(channel.eventLoop), eventLoop: channel.eventLoop) }
            try channel.pipeline.syncOperations.addHandler(
                ConnectionGuard(limits, place: place, among: connections, streams: streams, bytesBeginRequests: certificate == nil))
            guard let certificate else { return http1.add(to: channel).map { .plain(channel) } }
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Conversation> { result in
                // A client that offers nothing speaks HTTP/1.1.
                guard case .negotiated("h2") = result else { return http1.add(to: channel).map { .http1 } }
                return speakHttp2(channel, logger).map { .http2($0) }
            }
            try channel.pipeline.syncOperations.addHandlers([NIOSSLServerHandler(context: certificate.context), negotiation])
            return channel.eventLoop.makeSucceededFuture(.secure(negotiation.protocolNegotiationResult, channel))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    private func speakHttp2(_ channel: any Channel, _ logger: Logger) -> EventLoopFuture<HTTP2Channel.Value> {
        do { try channel.pipeline.syncOperations.addHandler(Http2FrameBudget()) } catch { return channel.eventLoop.makeFailedFuture(error) }
        return http2.setup(channel: channel, logger: logger)
    }

    private func refuse(_ channel: any Channel) -> EventLoopFuture<Value> {
        channel.close(promise: nil)
        return channel.eventLoop.makeSucceededFuture(.refused(channel))
    }
}

/// Makes a connection speak HTTP/1.1.
struct Http1Setup: Sendable {
    let loadShedder: LoadShedder
    let responder: Http1Conversation.Responder
    /// The longest that a body may take which nobody reads; the reader of a body answers when its own time is over.
    let bodyTime: Duration
    let logger: Logger

    func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let connection = try pipeline.handler(type: ConnectionGuard.self)
            connection.bytesBeginRequests = true
            let requestGuard = RequestGuard(isStream: false, bodyTime: bodyTime)
            let conversation = Http1Conversation(
                base: GatewayContext(source: .init(channel: channel, logger: logger)), eventLoop: channel.eventLoop, requestGuard: requestGuard,
                loadShedder: loadShedder, responder: responder)
            let rules = Http1Rules()
            let early = EarlyRefusal(loadShedder, eventLoop: channel.eventLoop, rules: rules, requestGuard: requestGuard, connection: connection)
            try pipeline.addHandlers([early, Http1Parser().handler, rules, requestGuard, conversation])
        }
    }
}
