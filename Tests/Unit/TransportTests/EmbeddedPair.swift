import NIOCore
import NIOEmbedded
import Transport

/// A client and a server without sockets: the test carries their bytes.
struct EmbeddedPair {
    let client: EmbeddedChannel
    let server: EmbeddedChannel
    let clientEvents = Recorder()
    let serverEvents = Recorder()

    init(
        client clientIdentity: TlsIdentity, expecting name: String = "server.boxoffice", server serverIdentity: TlsIdentity,
        limits: TlsLimits = TlsLimits()
    ) throws {
        client = EmbeddedChannel()
        server = EmbeddedChannel()
        try client.pipeline.syncOperations.addHandlers(
            TlsHandler(identity: clientIdentity, side: .client(expecting: name), limits: limits), clientEvents)
        try server.pipeline.syncOperations.addHandlers(TlsHandler(identity: serverIdentity, side: .server, limits: limits), serverEvents)
        try client.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try server.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
    }

    /// Carries bytes to and fro until both are silent.
    /// - Returns: The ciphertext buffers that the client wrote.
    @discardableResult
    func exchange() throws -> [ByteBuffer] {
        var written: [ByteBuffer] = []
        var isMoving = true
        while isMoving {
            isMoving = false
            while let bytes = try client.readOutbound(as: ByteBuffer.self) {
                isMoving = true
                written.append(bytes)
                if server.isActive { _ = try? server.writeInbound(bytes) }
            }
            while let bytes = try server.readOutbound(as: ByteBuffer.self) {
                isMoving = true
                if client.isActive { _ = try? client.writeInbound(bytes) }
            }
        }
        return written
    }
}

/// Remembers what the TLS handler tells the handlers above it.
final class Recorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var received = ByteBuffer()
    var peerNames: [String]?
    var errors: [TlsError] = []
    var isInactive = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .established(let names)? = event as? TlsEvent { peerNames = names }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? TlsError { errors.append(error) }
    }

    func channelInactive(context: ChannelHandlerContext) { isInactive = true }
}
