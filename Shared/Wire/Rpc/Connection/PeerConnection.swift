internal import Logging
internal import NIOCore
internal import Transport
internal import Frames

/// The shell around the protocol of one connection: bytes in and out, and the one timer. The two roles interpret a frame.
///
/// `@unchecked Sendable`: everything but `eventLoop` is touched on the event loop of the channel only; code from elsewhere hops there first.
class PeerConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    typealias Instant = ContinuousClock.Instant

    /// Bytes after which frames are written without waiting for the end of the batch. So they are still in the cache when they are encrypted.
    private static let earlyFlushBytes = 64 * 1024
    /// Capacity of a buffer, in bytes, above which it is not kept for the next use.
    private static let keptCapacity = 512 * 1024
    /// A peer has this long to read the last words before the connection is cut.
    private static let lingerTime = TimeAmount.milliseconds(500)

    let eventLoop: any EventLoop
    let limits: OutboundLimits
    var logger: Logger
    // These four are touched several times for each call, always on the event loop and never while another access to the same one lasts. The actions
    // that they return are performed after they have returned. So the run-time check of that is left out.
    @exclusivity(unchecked) var machine: ConnectionStateMachine
    @exclusivity(unchecked) var encoder = FrameEncoder(maxFrameBytes: Int(ConnectionStateMachine.smallestMaxFrameBytes))
    @exclusivity(unchecked) private var decoder: FrameDecoder
    private(set) var context: ChannelHandlerContext?
    private(set) var peerNames: [String] = []
    /// The transport ended the connection for this reason, if it did.
    private(set) var lastError: (any Error)?

    /// The bytes that are being worked on were read at this time.
    private(set) var arrival: Instant
    private var inbox = ByteBuffer()
    @exclusivity(unchecked) private var outbox = ByteBuffer()
    private var isReading = false
    private var isFlushScheduled = false
    private var isCongested = false
    private(set) var isEnding = false
    private var timer: Scheduled<Void>?
    private var timerInstant: Instant?
    private var congestionTimer: Scheduled<Void>?

    init(_ machine: ConnectionStateMachine, limits: OutboundLimits, eventLoop: any EventLoop, logger: Logger) {
        self.machine = machine
        self.limits = limits
        self.eventLoop = eventLoop
        self.logger = logger
        decoder = FrameDecoder(maxFrameBytes: min(machine.settings.maxFrameBytes, ConnectionStateMachine.maxFrameBytesBeforeHello))
        arrival = .now
    }

    // MARK: What a role decides

    /// The handshake is done; before the hello is sent.
    func willStart() {}

    /// The hello is on its way.
    func didStart() {}

    /// A request; apart from the other frames because it is the frequent one.
    func receive(_ request: RequestView) {}

    /// A frame that only a caller gets.
    func receive(_ frame: FrameView) {}

    /// An action that concerns calls.
    func perform(call action: ConnectionAction) {}

    /// The connection is about to end by these actions; calls that it takes with it have not heard of it yet.
    func willEnd(by actions: [ConnectionAction]) {}

    /// The channel is gone, or is about to be: nothing more can be sent.
    func didEnd(_ reason: CloseReason) {}

    /// The transport reports an error; the connection ends.
    func didFail(_ error: any Error) {}

    /// There is room again for what waited.
    func didDecongest() {}

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        perform(machine.connectionLost())
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        perform(machine.connectionLost())
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .established(let names)? = event as? TlsEvent else { return context.fireUserInboundEventTriggered(event) }
        peerNames = names
        willStart()
        perform(machine.start(now: .now))
        didStart()
        settle()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        lastError = error
        didFail(error)
        perform(machine.connectionLost())
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding else { return }
        var bytes = unwrapInboundIn(data)
        isReading = true
        arrival = .now
        machine.heard(now: arrival)
        if inbox.readableBytes == 0 {
            parse(&bytes)
            inbox.clear()
            if bytes.readableBytes > 0 { inbox.writeBuffer(&bytes) }
        } else {
            inbox.writeBuffer(&bytes)
            parseInbox()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        settle()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { decongest() } else { congest() }
        context.fireChannelWritabilityChanged()
    }
}

// MARK: - Frames in

extension PeerConnection {
    private func parseInbox() {
        var buffer = inbox
        inbox = ByteBuffer()
        parse(&buffer)
        if buffer.readableBytes == 0 {
            buffer.clear()
        } else if buffer.readerIndex > buffer.readableBytes {
            buffer.discardReadBytes()
        }
        inbox = buffer.capacity > Self.keptCapacity && buffer.readableBytes == 0 ? ByteBuffer() : buffer
    }

    private func parse(_ buffer: inout ByteBuffer) {
        buffer.readWithUnsafeReadableBytes { bytes in
            var rest = bytes
            do throws(FrameRejection) {
                while !isEnding, !isCongested, let frame = try decoder.next(&rest) { dispatch(frame) }
            } catch {
                perform(machine.refuse(error))
            }
            return bytes.count - rest.count
        }
    }

    private func dispatch(_ frame: FrameView) {
        switch frame {
        case .hello(let hello): perform(machine.receiveHello(hello, now: arrival))
        case .ping(let nonce): perform(machine.receivePing(nonce: nonce))
        case .pong(let nonce): perform(machine.receivePong(nonce: nonce))
        case .goAway(let goAway): perform(machine.receiveGoAway(goAway, now: arrival))
        case .cancel(let callID): perform(machine.receiveCancel(callID: callID))
        case .request(let request): receive(request)
        case .response, .streamItem, .streamEnd: receive(frame)
        }
    }
}

// MARK: - Actions and frames out

extension PeerConnection {
    func perform(_ actions: [ConnectionAction]) {
        if case .close? = actions.last, !isEnding { willEnd(by: actions) }
        for action in actions {
            switch action {
            case .send(let frame): send(frame)
            case .opened(let hello):
                encoder.maxFrameBytes = Int(hello.maxFrameBytes)
                decoder.maxFrameBytes = machine.settings.maxFrameBytes
                perform(call: action)
            case .close(let reason): end(reason)
            case .peerLeaves, .fail, .stopWork: perform(call: action)
            }
        }
    }

    func send(_ frame: Frame) {
        do {
            enqueue(try encoder.prepare(frame))
        } catch {
            logger.error("rpc.frame_not_sent", metadata: ["error": "\(error)"])
        }
    }

    /// Queues the frame that the encoder prepared, for the end of the batch.
    func enqueue(_ byteCount: Int) {
        outbox.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { encoder.write(into: $0) }
        if outbox.readableBytes >= Self.earlyFlushBytes { flush() } else { scheduleFlush() }
    }

    /// The steps after a batch of frames or answers: time, then one write.
    func settle() {
        perform(machine.advance(to: .now))
        flush()
        armTimer()
    }

    var isWritable: Bool { context?.channel.isWritable ?? false }

    private func scheduleFlush() {
        guard !isReading, !isFlushScheduled else { return }
        isFlushScheduled = true
        eventLoop.execute {
            self.isFlushScheduled = false
            self.settle()
        }
    }

    private func flush() {
        guard outbox.readableBytes > 0, let context else { return }
        var batch = outbox
        outbox = ByteBuffer()
        context.writeAndFlush(wrapOutboundOut(batch), promise: nil)
        if outbox.readableBytes == 0, batch.capacity <= Self.keptCapacity {
            batch.clear()
            outbox = batch
        }
        if isCongested { checkBacklog() }
    }

    private func armTimer() {
        guard !isEnding, let next = machine.nextTimer else { return }
        if let timerInstant, timerInstant <= next { return }
        timer?.cancel()
        timerInstant = next
        let delay = max(.zero, Instant.now.duration(to: next))
        timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay) + .microseconds(500)) {
            self.timerInstant = nil
            self.settle()
        }
    }
}

// MARK: - Back pressure

extension PeerConnection {
    private func congest() {
        guard !isEnding, !isCongested else { return }
        isCongested = true
        setReading(false)
        congestionTimer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.slowReaderTime)) {
            if self.isCongested { self.refuseSlowReader() }
        }
    }

    private func decongest() {
        guard isCongested, !isEnding else { return }
        isCongested = false
        congestionTimer?.cancel()
        setReading(true)
        didDecongest()
        // Within a read, the loop over its frames goes on by itself.
        guard !isReading else { return }
        isReading = true
        parseInbox()
        isReading = false
        settle()
    }

    private func checkBacklog() {
        guard let options = context?.channel.syncOptions, let waiting = try? options.getOption(.bufferedWritableBytes) else { return }
        if waiting > limits.bytes { refuseSlowReader() }
    }

    private func refuseSlowReader() {
        perform(machine.refuse(.slowReader, "What was sent is not read."))
    }

    private func setReading(_ isOn: Bool) {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: isOn)
    }
}

// MARK: - The end

extension PeerConnection {
    private func end(_ reason: CloseReason) {
        guard !isEnding else { return }
        flush()
        isEnding = true
        timer?.cancel()
        congestionTimer?.cancel()
        logger.debug("rpc.connection_closed", metadata: ["reason": "\(reason)"])
        didEnd(reason)
        guard let context, context.channel.isActive else { return }
        guard case .refused(let code, _) = reason, code != .slowReader else { return context.close(promise: nil) }
        linger(context)
    }

    /// Ends this side's half and waits for the peer to end its own: cutting the connection at once could lose the go-away on its way.
    private func linger(_ context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTime) { context.close(promise: nil) }
    }
}
