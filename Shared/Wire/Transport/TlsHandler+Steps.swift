internal import NIOCore

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
