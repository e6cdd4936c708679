internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization
internal import Testing

/// A connection on which a test sends any bytes.
final class RawConnection: Sendable {
    private let channel: any Channel
    private let state: Received

    private final class Received: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let bytes = Mutex<[UInt8]>([])
        let isClosed = Atomic(false)

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            bytes.withLock { $0 += buffer.readableBytesView }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event as? ChannelEvent == .inputClosed { isClosed.store(true, ordering: .releasing) }
        }

        func channelInactive(context: ChannelHandlerContext) { isClosed.store(true, ordering: .releasing) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// Source port.
    var port: Int? { channel.localAddress?.port }

    private init(_ channel: any Channel, _ state: Received) {
        self.channel = channel
        self.state = state
    }

    /// - Parameters:
    ///   - tls: Makes the connection use TLS; checks the server's certificate as `tls` is configured.
    ///   - name: That the client asks for in its handshake.
    static func open(_ port: Int, tls: TLSConfiguration? = nil, name: String? = nil) async throws -> RawConnection {
        let state = Received()
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context { try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: name)) }
                    try channel.pipeline.syncOperations.addHandler(state)
                }
            }.connect(host: "127.0.0.1", port: port).get()
        return RawConnection(channel, state)
    }

    /// Opens a connection, works with it, closes it.
    static func with<Value>(
        _ port: Int, tls: TLSConfiguration? = nil, name: String? = nil, _ body: (RawConnection) async throws -> Value
    ) async throws -> Value {
        let connection = try await open(port, tls: tls, name: name)
        do {
            let value = try await body(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }

    /// - Returns: False when the connection is closed.
    @discardableResult
    func send(_ text: String) async -> Bool { await send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) async -> Bool {
        do { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get() } catch { return false }
        return true
    }

    func closeOutput() async { try? await channel.close(mode: .output).get() }

    func close() async { try? await channel.close().get() }

    var bytes: [UInt8] { state.bytes.withLock { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var isClosed: Bool { state.isClosed.load(ordering: .acquiring) }

    /// Statuses of the HTTP/1.1 answers so far.
    var statuses: [Int] {
        text.split(separator: "HTTP/1.1 ").dropFirst(text.hasPrefix("HTTP/1.1 ") ? 0 : 1).compactMap { Int($0.prefix(3)) }
    }

    func wait(for what: String, _ condition: (RawConnection) -> Bool) async throws {
        try await Eventually.holds("\(what): \(self.isClosed) \(self.text.prefix(300))") { condition(self) }
    }

    /// The first answer, and that the server ended the connection.
    func lastAnswer() async throws -> Int? {
        try await wait(for: "the end of the connection") { $0.isClosed }
        return statuses.first
    }
}

/// Waits for what must come.
enum Eventually {
    static func holds(_ what: @autoclosure () -> String, within limit: Duration = .seconds(60), _ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while !condition() {
            try #require(ContinuousClock.now < end, "in vain waited for \(what())")
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
