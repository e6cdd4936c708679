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
