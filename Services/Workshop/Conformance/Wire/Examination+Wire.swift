internal import ContractRuntime
internal import Contracts
internal import Frames

/// The common parts of the requirements of the wire.
extension Examination {
    /// Reads until the callee sends a go-away with this reason and closes.
    /// - Throws: `Unmet` when anything else comes, or the connection stays.
    func expectGoAway(_ code: String, on probe: WireProbe, within patience: Duration = patience) async throws {
        let expected = "a go-away of code `\(code)`, then the end of the connection"
        let end = ContinuousClock.now + patience
        while true {
            let event = await probe.next(within: max(.zero, end - .now))
            guard case .frame(let frame) = event else { throw Unmet(expected, came: FrameText.text(event)) }
            switch frame.kind {
            case .hello, .ping: continue
            case .goAway(let goAway) where goAway.code == code: return try await expectEnd(of: probe)
            default: throw Unmet(expected, came: FrameText.text(frame))
            }
        }
    }

    /// - Throws: `Unmet` unless the callee closes.
    func expectEnd(of probe: WireProbe, within patience: Duration = patience) async throws {
        let end = ContinuousClock.now + patience
        while true {
            let event = await probe.next(within: max(.zero, end - .now))
            switch event {
            case .closed: return
            case .frame(let frame):
                if case .ping = frame.kind { continue }
                if case .goAway = frame.kind { continue }
                throw Unmet("the end of the connection", came: FrameText.text(frame))
            default: throw Unmet("the end of the connection", came: FrameText.text(event))
            }
        }
    }

    /// The connection still answers.
    func expectAlive(_ conversation: Conversation) async throws {
        let content = Array("alive".utf8)
        let answer = try await conversation.call(DiagnosticsMethods.echo, EchoMessage(content: content))
        guard answer.content == content else { throw Unmet("the echo of what was sent", came: Bytes.text(answer.content)) }
    }

    /// Sends a correct hello, then bytes that the callee must refuse.
    func refused(_ bytes: [UInt8], _ what: String, code: String = "protocol_error") async throws {
        let conversation = try await greet()
        try await conversation.probe.send(raw: bytes, what)
        try await expectGoAway(code, on: conversation.probe)
    }

    /// The same for a frame.
    func refused(_ frame: Frame) async throws {
        let conversation = try await greet()
        try await conversation.probe.send(frame)
        try await expectGoAway("protocol_error", on: conversation.probe)
    }
}

extension EchoMessage {
    /// Encoded, with a delay in milliseconds.
    static func bytes(_ content: String = "", delay: UInt32 = 0) throws -> [UInt8] {
        try EchoMessage(content: Array(content.utf8), delayMilliseconds: delay).serialized()
    }
}
