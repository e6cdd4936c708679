internal import ContractRuntime
internal import NIOCore
internal import NIOPosix
internal import Transport
internal import Frames

/// A caller that sends exactly what a requirement asks for, valid or not.
final class WireProbe: Sendable {
    /// DNS names in the callee's certificate.
    let peerNames: [String]
    private let channel: any Channel
    private let mailbox: Mailbox
    private let examination: Examination

    /// Connects by TLS 1.3 and sends nothing.
    /// - Throws: `Unmet` when the callee cannot be reached.
    init(_ examination: Examination, as files: TlsFiles) async throws {
        self.examination = examination
        let mailbox = Mailbox()
        self.mailbox = mailbox
        let subject = examination.subject
        do {
            let identity = try TlsIdentity(files: files)
            let group = MultiThreadedEventLoopGroup.singleton
            let loop = group.next()
            let established = loop.makePromise(of: [String].self)
            let bootstrap = ClientBootstrap(group: loop).connectTimeout(.seconds(5))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let tls = try TlsHandler(identity: identity, side: .client(expecting: subject.certificateName))
                        try channel.pipeline.syncOperations.addHandlers(tls, ProbeHandler(mailbox: mailbox, established: established))
                    }
                }
            channel = try await bootstrap.connect(host: subject.host, port: subject.port).flatMapErrorThrowing { error in
                established.fail(error)
                throw error
            }.get()
            peerNames = try await established.futureResult.get()
        } catch {
            throw Unmet("a connection with TLS 1.3 to \(subject.certificateName)", came: WireProbe.words(error))
        }
    }

    /// Why there is no connection. The library's own words for it list its structures.
    static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first?.error else { return "a name that cannot be resolved, '\(error.host)'" }
            return "no connection to \(error.host):\(error.port): \(words(first))"
        case ChannelError.connectTimeout: return "no answer in time"
        default: return "\(error)"
        }
    }

    func send(_ frame: Frame) async throws {
        examination.sent(FrameText.text(frame))
        try await write(Self.encoded(frame))
    }

    /// Several frames in one write.
    func send(_ frames: [Frame]) async throws {
        examination.sent(
            frames.count == 1 ? FrameText.text(frames[0]) : "\(frames.count) frames, the first \(frames.first.map(FrameText.text) ?? "")")
        try await write(frames.flatMap { try Self.encoded($0) })
    }

    /// - Parameter what: What the bytes are, for the report.
    func send(raw bytes: [UInt8], _ what: String) async throws {
        examination.sent("\(what): \(Bytes.text(bytes))")
        try await write(bytes)
    }

    /// For a frame that the report shows in other words.
    func sendQuietly(_ frame: Frame) async throws { try await write(Self.encoded(frame)) }

    /// A call for the report.
    func note(_ request: String, to service: String, _ method: String) { examination.sent("\(service)/\(method) \(request)") }

    /// Its answer for the report.
    func noteAnswer(_ text: String) { examination.came(text) }

    private func write(_ bytes: [UInt8]) async throws {
        // When the callee has closed, what it sent before tells more than the failed write.
        try? await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    /// - Returns: `nil` when nothing came in the time.
    func next(within patience: Duration = Examination.patience) async -> ProbeEvent? {
        let event = await mailbox.next(within: patience)
        if let event { examination.came(FrameText.text(event)) }
        return event
    }

    /// Sends close_notify, then closes.
    func close() async { try? await channel.close().get() }

    /// Sends close_notify and goes on reading.
    func closeOutput() async { try? await channel.close(mode: .output).get() }

    /// The length prefix and the frame.
    static func encoded(_ frame: Frame) throws -> [UInt8] { framed(try frame.serialized()) }

    static func framed(_ body: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(body.count).bigEndian) { Array($0) } + body
    }
}
