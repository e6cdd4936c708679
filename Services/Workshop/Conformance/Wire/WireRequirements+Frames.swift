internal import ContractRuntime
internal import Contracts
internal import Frames

extension WireRequirements {
    static let frames = [
        Requirement("WIRE-15", "A length of 0 is a protocol error.", source: "WIRE.md §2") { examination in
            try await examination.refused([0, 0, 0, 0], "a length of 0")
        },
        Requirement(
            "WIRE-16",
            "A length above the limit of the callee's hello is answered with go-away `frame_too_large`, before the rest of the frame is read.",
            source: "WIRE.md §2"
        ) { examination in
            let conversation = try await examination.greet()
            let limit = conversation.hello.maxFrameBytes
            guard limit < .max else { throw NotApplicable("the callee accepts frames of any size") }
            let prefix = withUnsafeBytes(of: (limit + 1).bigEndian) { Array($0) }
            try await conversation.probe.send(raw: prefix, "a length of \(limit + 1) and nothing behind it")
            try await examination.expectGoAway("frame_too_large", on: conversation.probe)
        },
        Requirement("WIRE-17", "A message that does not decode is a protocol error.", source: "WIRE.md §2") { examination in
            // Field 2 with a length of 255 bytes, and no bytes after it.
            try await examination.refused(WireProbe.framed([0x12, 0xff, 0x01]), "a frame that is cut off inside")
        },
        Requirement("WIRE-18", "A frame without a kind, or of an unknown one, is a protocol error.", source: "WIRE.md §2") { examination in
            // Field 99, of wire type 2, with two bytes.
            try await examination.refused(WireProbe.framed([0x9a, 0x06, 0x02, 0x68, 0x69]), "a frame with field 99 alone")
        },
        Requirement("WIRE-19", "Frames may arrive in pieces of any size.", source: "WIRE.md §2") { examination in
            let conversation = try await examination.greet()
            let frame = try WireProbe.encoded(Conversation.frame(1, DiagnosticsEcho.service, DiagnosticsEcho.method, EchoMessage.bytes("pieces")))
            for byte in frame.prefix(12) { try await conversation.probe.send(raw: [byte], "one byte of a request") }
            try await conversation.probe.send(raw: Array(frame.dropFirst(12)), "the rest of it")
            _ = try await conversation.response(to: 1)
        },
        Requirement("WIRE-20", "Many frames may arrive in one piece; each request is answered.", source: "WIRE.md §2, §4") { examination in
            let conversation = try await examination.greet()
            let ids = (0..<64).map { _ in conversation.nextCallID() }
            try await conversation.probe.send(
                try ids.map { Conversation.frame($0, DiagnosticsEcho.service, DiagnosticsEcho.method, try EchoMessage.bytes("\($0)")) })
            try await collect(Set(ids), conversation) { id, response in
                guard case .payload(let bytes) = response.outcome, try bytes == EchoMessage.bytes("\(id)") else {
                    throw Unmet("the echo of call \(id)", came: "\(response)")
                }
            }
        },
        Requirement("WIRE-21", "Of two kinds in one frame the last counts.", source: "WIRE.md §2") { examination in
            let conversation = try await examination.greet()
            // Frame.cancel of call 99, which would be an error, then Frame.ping with nonce 5.
            try await conversation.probe.send(
                raw: WireProbe.framed([0x32, 0x02, 0x08, 0x63, 0x3a, 0x02, 0x08, 0x05]), "a frame with a cancel and a ping")
            try await expectPong(5, conversation)
        },
        Requirement("WIRE-22", "Unknown fields of a frame and of a payload are skipped.", source: "WIRE.md §2, §11") { examination in
            let conversation = try await examination.greet()
            let id = conversation.nextCallID()
            let payload = try EchoMessage.bytes("known") + [0xa2, 0x06, 0x02, 0x68, 0x69]
            var body = try Conversation.frame(id, DiagnosticsEcho.service, DiagnosticsEcho.method, payload).serialized()
            body += [0x9a, 0x06, 0x02, 0x68, 0x69]
            try await conversation.probe.send(raw: WireProbe.framed(body), "a request with unknown fields")
            guard case .payload = try await conversation.response(to: id).outcome else { throw Unmet("an answer", came: "a fault") }
        },
        Requirement("WIRE-23", "A text that is not UTF-8, in a hello, is a protocol error.", source: "WIRE.md §2") { examination in
            let probe = try await examination.connect()
            // protocol_version 1, software 0xff 0xfe, max_frame_bytes 4096.
            try await probe.send(
                raw: WireProbe.framed([0x0a, 0x09, 0x08, 0x01, 0x12, 0x02, 0xff, 0xfe, 0x20, 0x80, 0x20]), "a hello whose software is 0xfffe")
            try await examination.expectGoAway("protocol_error", on: probe)
        },
        Requirement("WIRE-24", "A text with a NUL, in a hello, is a protocol error.", source: "WIRE.md §2") { examination in
            let probe = try await examination.connect()
            try await probe.send(
                raw: WireProbe.framed([0x0a, 0x0a, 0x08, 0x01, 0x12, 0x03, 0x61, 0x00, 0x62, 0x20, 0x80, 0x20]), "a hello whose software is a NUL b")
            try await examination.expectGoAway("protocol_error", on: probe)
        },
        Requirement("WIRE-25", "A frame that only the callee sends is a protocol error.", source: "WIRE.md §4") { examination in
            try await examination.refused(Frame(kind: .response(Response(callID: 1, outcome: .payload([])))))
            try await examination.refused(Frame(kind: .streamItem(StreamItem(callID: 1))))
            try await examination.refused(Frame(kind: .streamEnd(StreamEnd(callID: 1))))
        },
        Requirement("WIRE-26", "A ping is answered at once with a pong of the same nonce, also while calls are under way.", source: "WIRE.md §6") {
            examination in
            // On a busy machine the call may end before the last ping arrives, which says nothing yet. Then it is tried once more, with a call that
            // lasts longer.
            do { try await expectPongs(during: 1500, examination) } catch is CallEnded {
                do { try await expectPongs(during: 5000, examination) } catch let ended as CallEnded { throw ended.unmet }
            }
        },
        Requirement("WIRE-27", "A pong without a ping is a protocol error.", source: "WIRE.md §6") { examination in
            try await examination.refused(Frame(kind: .pong(Pong(nonce: 77))))
        },
    ]

    /// The response of the call that was to be under way came where a pong was due.
    private struct CallEnded: Error {
        let unmet: Unmet
    }

    /// - Throws: `CallEnded` for the answer to the call that was to be under way; `Unmet` for whatever else is no such pong.
    private static func expectPong(_ nonce: UInt64, _ conversation: Conversation, during call: UInt64? = nil) async throws {
        let event = try await conversation.next()
        let unmet = Unmet("a pong of nonce \(nonce)", came: FrameText.text(event))
        guard case .frame(let frame) = event else { throw unmet }
        switch frame.kind {
        case .pong(let pong) where pong.nonce == nonce: return
        case .response(let response) where response.callID == call: throw CallEnded(unmet: unmet)
        default: throw unmet
        }
    }

    /// Sends pings while a call of that many milliseconds is under way.
    private static func expectPongs(during delay: UInt32, _ examination: Examination) async throws {
        let conversation = try await examination.greet()
        let id = try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, payload: EchoMessage.bytes(delay: delay))
        for nonce in [1, 7, UInt64.max] {
            try await conversation.probe.send(Frame(kind: .ping(Ping(nonce: nonce))))
            try await expectPong(nonce, conversation, during: id)
        }
        _ = try await conversation.response(to: id)
    }

    /// Takes one response for each call, in any order.
    static func collect(
        _ ids: Set<UInt64>, _ conversation: Conversation, _ check: (UInt64, Response) throws -> Void
    ) async throws {
        var open = ids
        while !open.isEmpty {
            let event = try await conversation.next()
            guard case .frame(let frame) = event, case .response(let response) = frame.kind, open.remove(response.callID) != nil else {
                throw Unmet("one response for each of \(open.count) calls", came: FrameText.text(event))
            }
            try check(response.callID, response)
        }
    }
}
