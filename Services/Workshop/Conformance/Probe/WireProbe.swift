internal import ContractRuntime
internal import Cryptography
internal import Frames
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import Transport

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

    /// Returns why there is no connection. The library's own words for it list its structures.
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

    /// - Parameter what: The meaning of the bytes, for the report.
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

/// Events of one connection in their order, for one reader that waits up to a time limit.
final class Mailbox: Sendable {
    private struct State {
        var events: [ProbeEvent] = []
        var waiter: (number: Int, continuation: CheckedContinuation<ProbeEvent?, Never>)?
        var waits = 0
    }

    private let state = Mutex(State())

    func put(_ event: ProbeEvent) {
        let waiter = state.withLock { state in
            let waiter = state.waiter?.continuation
            state.waiter = nil
            if waiter == nil { state.events.append(event) }
            return waiter
        }
        waiter?.resume(returning: event)
    }

    /// - Returns: `nil` when nothing came in the time.
    func next(within patience: Duration) async -> ProbeEvent? {
        let timer = Mutex<Task<Void, Never>?>(nil)
        let event = await withCheckedContinuation { (continuation: CheckedContinuation<ProbeEvent?, Never>) in
            let number = state.withLock { state -> Int? in
                guard state.events.isEmpty else {
                    continuation.resume(returning: state.events.removeFirst())
                    return nil
                }
                state.waits += 1
                state.waiter = (state.waits, continuation)
                return state.waits
            }
            guard let number else { return }
            let task = Task {
                try? await Task.sleep(for: patience)
                self.expire(number)
            }
            timer.withLock { $0 = task }
        }
        timer.withLock { $0?.cancel() }
        return event
    }

    private func expire(_ number: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<ProbeEvent?, Never>? in
            guard let waiter = state.waiter, waiter.number == number else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume(returning: nil)
    }
}

/// The event that a connection brought.
enum ProbeEvent: Sendable {
    case frame(Frame)
    /// Bytes that are no frame; nothing after them is read.
    case garbage(String)
    case closed
}

/// Bytes as a report shows them.
enum Bytes {
    private static let shown = 48

    static func text(_ bytes: [UInt8]) -> String {
        let beginning = Hex.encode(bytes.prefix(shown))
        return bytes.count > shown ? "\(beginning)... (\(bytes.count) bytes)" : "\(beginning) (\(bytes.count) bytes)"
    }
}
