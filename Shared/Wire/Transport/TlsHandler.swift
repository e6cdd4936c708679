public import NIOCore

/// TLS 1.3 of one channel: ciphertext below, plaintext above.
///
/// All that is written before a flush goes out together, in as few records as it fits. Failures reach the handlers above as `TlsError`
/// and close the channel. A peer's close_notify closes the channel; a connection that ends without one is reported as `truncated`.
public final class TlsHandler: ChannelDuplexHandler {
    public typealias InboundIn = ByteBuffer
    public typealias InboundOut = ByteBuffer
    public typealias OutboundIn = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    /// Which end this is.
    public enum Side: Hashable, Sendable {
        /// - Parameter expecting: The DNS SAN that the server's certificate must have, for example `authentication.boxoffice`.
        case client(expecting: String)
        /// Demands a certificate that leads to a trust anchor.
        case server
    }

    enum State {
        case handshaking
        case established
        /// close_notify is sent; what still comes is passed on.
        case outputClosed
        case closed
    }

    /// Capacity of a buffer, in bytes, above which it is not kept for the next use.
    static let keptCapacity = 256 * 1024

    let session: TlsSession
    let limits: TlsLimits
    var state = State.handshaking
    var timeout: Scheduled<Void>?
    var plaintext = ByteBuffer()
    var outgoing = ByteBuffer()
    var pending = ByteBuffer()
    var pendingPromise: EventLoopPromise<Void>?

    /// - Throws: `out_of_memory`; `wrong_peer_name` when the name cannot be pinned.
    public init(identity: TlsIdentity, side: Side, limits: TlsLimits = TlsLimits()) throws(TlsError) {
        session = try TlsSession(context: identity.context, side: side)
        self.limits = limits
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    public func handlerRemoved(context: ChannelHandlerContext) {
        timeout?.cancel()
        failPending(ChannelError.ioOnClosedChannel)
    }

    public func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    public func channelInactive(context: ChannelHandlerContext) {
        let ended = state
        finish()
        switch ended {
        case .handshaking: context.fireErrorCaught(TlsError(.handshakeFailed, "the peer left during the handshake"))
        case .established: context.fireErrorCaught(TlsError(.truncated, "the peer left without close_notify"))
        case .outputClosed, .closed: break
        }
        context.fireChannelInactive()
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var input = unwrapInboundIn(data)
        do throws(TlsError) {
            if state == .handshaking, try !shakeHands(&input, context) { return }
            if state == .established || state == .outputClosed { try receive(&input, context) }
        } catch {
            fail(error, context)
        }
    }

    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        guard state == .handshaking || state == .established else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        if pending.readableBytes == 0 { pending = bytes } else { pending.writeBuffer(&bytes) }
        pendingPromise.setOrCascade(to: promise)
        guard pending.readableBytes > limits.pendingOutboundBytes else { return }
        fail(TlsError(.outboundLimit, "more than \(limits.pendingOutboundBytes) bytes wait to be sent"), context)
    }

    public func flush(context: ChannelHandlerContext) {
        if state == .established { send(context) }
        context.flush()
    }

    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .input { sayGoodbye(context) }
        if mode == .all { finish() }
        context.close(mode: mode, promise: promise)
    }
}

extension TlsHandler {
    /// Starts the handshake and the time that it may take.
    func begin(_ context: ChannelHandlerContext) {
        guard state == .handshaking, timeout == nil else { return }
        timeout = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.handshakeTime)) {
            guard self.state == .handshaking else { return }
            self.fail(TlsError(.handshakeTimedOut, "the handshake took longer than \(self.limits.handshakeTime)"), context)
        }
        var none = ByteBuffer()
        do throws(TlsError) {
            _ = try shakeHands(&none, context)
        } catch {
            fail(error, context)
        }
    }

    /// - Returns: True when the handshake is complete.
    func shakeHands(_ input: inout ByteBuffer, _ context: ChannelHandlerContext) throws(TlsError) -> Bool {
        outgoing.clear()
        let isComplete = try session.handshake(&input, &outgoing)
        writeOutgoing(context)
        guard isComplete else { return false }
        timeout?.cancel()
        state = .established
        context.fireUserInboundEventTriggered(TlsEvent.established(peerNames: session.peerNames))
        if state == .established {
            send(context)
            context.flush()
        }
        return true
    }

    func receive(_ input: inout ByteBuffer, _ context: ChannelHandlerContext) throws(TlsError) {
        reset(&plaintext)
        outgoing.clear()
        var failure: TlsError?
        var isOpen = true
        do throws(TlsError) {
            isOpen = try session.decrypt(&input, into: &plaintext, &outgoing)
        } catch {
            failure = error
        }
        writeOutgoing(context)
        if plaintext.readableBytes > 0 {
            let batch = plaintext
            context.fireChannelRead(wrapInboundOut(batch))
        }
        if let failure { throw failure }
        if !isOpen, state != .closed {
            sayGoodbye(context)
            finish()
            context.close(promise: nil)
        }
    }

    /// Encrypts and passes on what was written since the last flush.
    func send(_ context: ChannelHandlerContext) {
        guard pending.readableBytes > 0 else { return }
        reset(&outgoing)
        do throws(TlsError) {
            try session.encrypt(&pending, into: &outgoing)
        } catch {
            return fail(error, context)
        }
        pending = ByteBuffer()
        let promise = pendingPromise
        pendingPromise = nil
        context.write(wrapOutboundOut(outgoing), promise: promise)
    }

    /// Sends close_notify once, after everything that waits.
    func sayGoodbye(_ context: ChannelHandlerContext) {
        guard state == .established else { return }
        send(context)
        guard state == .established else { return }
        state = .outputClosed
        outgoing.clear()
        session.close(&outgoing)
        writeOutgoing(context)
    }

    func fail(_ error: TlsError, _ context: ChannelHandlerContext) {
        guard state != .closed else { return }
        writeOutgoing(context)
        finish()
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    func finish() {
        state = .closed
        timeout?.cancel()
        failPending(ChannelError.ioOnClosedChannel)
    }

    func failPending(_ error: any Error) {
        pending = ByteBuffer()
        let promise = pendingPromise
        pendingPromise = nil
        promise?.fail(error)
    }

    private func writeOutgoing(_ context: ChannelHandlerContext) {
        guard outgoing.readableBytes > 0 else { return }
        let bytes = outgoing
        outgoing = ByteBuffer()
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// Empties a buffer; its memory is used again unless someone still holds it or one large message made it large.
    private func reset(_ buffer: inout ByteBuffer) {
        if buffer.capacity > Self.keptCapacity { buffer = ByteBuffer() } else { buffer.clear() }
    }
}
