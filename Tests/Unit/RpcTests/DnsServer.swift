import NIOCore
import NIOPosix
import Rpc
import Synchronization

/// A name server for SRV records, on a free port of loopback.
final class DnsServer: Sendable {
    /// Its answer to one name.
    enum Answer: Sendable {
        case records([ServiceRecord])
        /// Over UDP only that there is more; over TCP the records.
        case long([ServiceRecord])
        case noName
        case failure
        case rubbish
    }

    private let answers: Mutex<[String: Answer]>
    private let questionCount = Mutex(0)
    let address: RpcAddress
    private let channels: [any Channel]

    init(_ answers: [String: Answer]) async throws {
        self.answers = Mutex(answers)
        let shared = Replies()
        let group = MultiThreadedEventLoopGroup.singleton
        let tcp = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(StreamQuestions(shared)) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = tcp.localAddress?.port ?? 0
        let udp = try await DatagramBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(DatagramQuestions(shared)) }
            }
            .bind(host: "127.0.0.1", port: port).get()
        address = RpcAddress(host: "127.0.0.1", port: port)
        channels = [tcp, udp]
        shared.reply.withLock { $0 = { [weak self] question, isDatagram in self?.answer(question, isDatagram) } }
    }

    deinit { for channel in channels { channel.close(promise: nil) } }

    var questions: Int { questionCount.withLock { $0 } }

    func set(_ answer: Answer, for name: String) { answers.withLock { $0[name] = answer } }

    private func answer(_ question: [UInt8], _ isDatagram: Bool) -> [UInt8]? {
        questionCount.withLock { $0 += 1 }
        var (labels, index): ([String], Int) = ([], 12)
        while index < question.count, question[index] > 0 {
            let end = index + 1 + Int(question[index])
            labels.append(String(decoding: question[index + 1..<end], as: UTF8.self))
            index = end
        }
        let asked = Array(question[12..<index + 5])
        switch answers.withLock({ $0[labels.joined(separator: ".")] }) {
        case .records(let records): return Self.message(question, asked, records: records)
        case .long(let records): return isDatagram ? Self.message(question, asked, flags: 0x8380) : Self.message(question, asked, records: records)
        case .failure: return Self.message(question, asked, flags: 0x8182)
        case .rubbish: return Array(Self.message(question, asked, records: [ServiceRecord(target: "a.example", port: 1, timeToLive: 1)]).dropLast(5))
        case .noName, nil: return Self.message(question, asked, flags: 0x8183)
        }
    }

    private static func message(_ question: [UInt8], _ asked: [UInt8], flags: UInt16 = 0x8180, records: [ServiceRecord] = []) -> [UInt8] {
        var bytes = Array(question.prefix(2))
        for number in [flags, 1, UInt16(records.count), 0, 0] { bytes += big(number) }
        bytes += asked
        for record in records {
            let target = name(record.target)
            // The name of the question again, SRV, IN.
            bytes += [0xc0, 12]
            let head = [33, 1, 0, record.timeToLive, 6 + target.count, record.priority, record.weight, record.port]
            for number in head { bytes += big(UInt16(number)) }
            bytes += target
        }
        return bytes
    }

    private static func name(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for label in text.split(separator: ".") {
            bytes.append(UInt8(label.utf8.count))
            bytes += Array(label.utf8)
        }
        return bytes + [0]
    }

    private static func big(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xff)] }
}

/// The handlers' answers, once the server is made.
private final class Replies: Sendable {
    let reply = Mutex<(@Sendable ([UInt8], Bool) -> [UInt8]?)?>(nil)

    func answer(_ question: [UInt8], isDatagram: Bool) -> [UInt8]? { reply.withLock { $0 }?(question, isDatagram) }
}

private final class DatagramQuestions: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let shared: Replies

    init(_ shared: Replies) { self.shared = shared }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard let answer = shared.answer(Array(envelope.data.readableBytesView), isDatagram: true) else { return }
        let reply = AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: answer))
        context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
    }
}

private final class StreamQuestions: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let shared: Replies
    private var buffer = ByteBuffer()

    init(_ shared: Replies) { self.shared = shared }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        buffer.writeBuffer(&bytes)
        while let question = buffer.readLengthPrefixedSlice(as: UInt16.self) {
            guard let answer = shared.answer(Array(question.readableBytesView), isDatagram: false) else { continue }
            var reply = ByteBuffer()
            reply.writeInteger(UInt16(answer.count))
            reply.writeBytes(answer)
            context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
        }
    }
}
