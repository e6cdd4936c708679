internal import ContractRuntime
internal import NIOCore
internal import Transport
internal import Frames

/// Cuts what comes into frames and puts them into the mailbox.
final class ProbeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let mailbox: Mailbox
    private let established: EventLoopPromise<[String]>
    private var inbox = ByteBuffer()
    private var isBroken = false
    private static let largest = 64 * 1024 * 1024

    init(mailbox: Mailbox, established: EventLoopPromise<[String]>) {
        self.mailbox = mailbox
        self.established = established
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .established(let names) = event as? TlsEvent { established.succeed(names) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        inbox.writeBuffer(&bytes)
        while !isBroken, let length = inbox.getInteger(at: inbox.readerIndex, as: UInt32.self) {
            guard length > 0, length <= Self.largest else {
                isBroken = true
                return mailbox.put(.garbage("a frame of \(length) bytes"))
            }
            guard inbox.readableBytes >= 4 + Int(length) else { return }
            inbox.moveReaderIndex(forwardBy: 4)
            let body = inbox.readBytes(length: Int(length)) ?? []
            guard let frame = try? Frame(serialized: body), frame.kind != nil else {
                isBroken = true
                return mailbox.put(.garbage("a frame that is none: \(Bytes.text(body))"))
            }
            mailbox.put(.frame(frame))
        }
        inbox.discardReadBytes()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        established.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        established.fail(ChannelError.ioOnClosedChannel)
        mailbox.put(.closed)
        context.fireChannelInactive()
    }
}
