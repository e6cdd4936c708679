internal import ContractRuntime
internal import Contracts
internal import Frames
internal import NIOCore
internal import NIOPosix

extension WireRequirements {
    static let calls = [
        Requirement(
            "WIRE-28", "A request is answered by one response with its call id and a payload, which is there even when it is empty.",
            source: "WIRE.md §4"
        ) {
            examination in
            let conversation = try await examination.greet()
            let id = try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, id: 300)
            let response = try await conversation.response(to: id)
            guard response.outcome == .payload([]) else { throw Unmet("a response with an empty payload", came: "\(response)") }
            if let event = try await conversation.next(within: .milliseconds(300)) { throw Unmet("nothing more", came: FrameText.text(event)) }
        },
        Requirement("WIRE-29", "Calls are worked on side by side: a later one may be answered first.", source: "WIRE.md §4") { examination in
            let conversation = try await examination.greet()
            let slow = try await conversation.request(
                DiagnosticsEcho.service, DiagnosticsEcho.method, payload: EchoMessage.bytes("slow", delay: 2000))
            let quick = try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, payload: EchoMessage.bytes("quick"))
            for id in [quick, slow] {
                let event = try await conversation.next()
                guard case .frame(let frame) = event, case .response(let response) = frame.kind, response.callID == id else {
                    throw Unmet("the response to call \(id)", came: FrameText.text(event))
                }
            }
        },
        Requirement("WIRE-30", "Call ids rise but need not be consecutive; one that does not rise is a protocol error.", source: "WIRE.md §4") {
            examination in
            let conversation = try await examination.greet()
            for id: UInt64 in [5, 1000] {
                try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, id: id)
                _ = try await conversation.response(to: id)
            }
            try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, id: 1000)
            try await examination.expectGoAway("protocol_error", on: conversation.probe)
        },
        Requirement("WIRE-31", "A call id of 0 is a protocol error.", source: "WIRE.md §4") { examination in
            try await examination.refused(Conversation.frame(0, DiagnosticsEcho.service, DiagnosticsEcho.method, []))
        },
        Requirement("WIRE-32", "The deadline is the callee's to keep: it answers `deadline_exceeded` when it is over.", source: "WIRE.md §4, §7") {
            examination in
            let conversation = try await examination.greet()
            let begin = ContinuousClock.now
            let id = try await conversation.request(
                DiagnosticsEcho.service, DiagnosticsEcho.method, payload: EchoMessage.bytes(delay: 30_000), timeout: .milliseconds(300))
            let fault = try fault(try await conversation.response(to: id), "deadline_exceeded")
            guard begin.duration(to: .now) >= .milliseconds(250) else { throw Unmet("the fault after 300 ms", came: "the fault at once") }
            guard fault.retryable else { throw Unmet("a retryable fault", came: "\(fault)") }
        },
        Requirement("WIRE-33", "Without a timeout there is no deadline.", source: "WIRE.md §4") { examination in
            let conversation = try await examination.greet()
            let id = try await conversation.request(
                DiagnosticsEcho.service, DiagnosticsEcho.method, payload: EchoMessage.bytes("x", delay: 500), timeout: .zero)
            guard case .payload = try await conversation.response(to: id).outcome else { throw Unmet("an answer", came: "a fault") }
        },
        Requirement("WIRE-34", "A cancelled call is answered no more; the connection goes on.", source: "WIRE.md §4") { examination in
            let conversation = try await examination.greet()
            let id = try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, payload: EchoMessage.bytes(delay: 1000))
            try await conversation.probe.send(Frame(kind: .cancel(Cancel(callID: id))))
            if let event = try await conversation.next(within: .milliseconds(1800)) {
                throw Unmet("nothing for call \(id)", came: FrameText.text(event))
            }
            try await examination.expectAlive(conversation)
        },
        Requirement("WIRE-35", "A cancel of a call that is over is ignored.", source: "WIRE.md §4") { examination in
            let conversation = try await examination.greet()
            let id = try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method)
            _ = try await conversation.response(to: id)
            try await conversation.probe.send(Frame(kind: .cancel(Cancel(callID: id))))
            try await examination.expectAlive(conversation)
        },
        Requirement("WIRE-36", "A cancel of a call id that was never used is a protocol error.", source: "WIRE.md §4") { examination in
            try await examination.refused(Frame(kind: .cancel(Cancel(callID: 4711))))
        },
        Requirement("WIRE-37", "A malformed trace context is treated as absent.", source: "WIRE.md §4") { examination in
            let conversation = try await examination.greet()
            let id = try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, traceparent: "00-nonsense-01")
            guard case .payload = try await conversation.response(to: id).outcome else { throw Unmet("an answer", came: "a fault") }
        },
    ]

    static let failures = [
        Requirement("WIRE-38", "A service that is not offered is answered `unimplemented`, and so is a method.", source: "WIRE.md §7") {
            examination in
            let conversation = try await examination.greet()
            for (service, method) in [("example.v1.Nothing", "Get"), (DiagnosticsEcho.service, "Nothing")] {
                let id = try await conversation.request(service, method)
                let fault = try fault(try await conversation.response(to: id), "unimplemented")
                guard !fault.retryable else { throw Unmet("a fault that is not retryable", came: "\(fault)") }
            }
            try await examination.expectAlive(conversation)
        },
        Requirement("WIRE-39", "A payload that does not decode is answered `invalid_message`; the connection goes on.", source: "WIRE.md §7") {
            examination in
            let conversation = try await examination.greet()
            let id = try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, payload: [0x0a, 0x7f, 0x01])
            try fault(try await conversation.response(to: id), "invalid_message")
            try await examination.expectAlive(conversation)
        },
        Requirement("WIRE-40", "A text that is not UTF-8, or holds a NUL, in a payload is answered `invalid_message`.", source: "WIRE.md §2, §7") {
            examination in
            let conversation = try await examination.greet()
            let (service, method) = examination.subject.service.methodWithText
            for payload: [UInt8] in [[0x0a, 0x02, 0xff, 0xfe], [0x0a, 0x03, 0x61, 0x00, 0x62]] {
                let id = try await conversation.request(service, method, payload: payload, key: "conformance-text")
                try fault(try await conversation.response(to: id), "invalid_message")
            }
            try await examination.expectAlive(conversation)
        },
        Requirement(
            "WIRE-41", "An answer that is larger than the caller accepts is replaced by the fault `frame_too_large`.", source: "WIRE.md §7"
        ) { examination in
            let conversation = try await examination.greet(maxFrameBytes: 1024)
            let id = try await conversation.request(
                DiagnosticsEcho.service, DiagnosticsEcho.method, payload: EchoMessage.bytes(String(repeating: "x", count: 4096)))
            try fault(try await conversation.response(to: id), "frame_too_large")
            try await examination.expectAlive(conversation)
        },
        Requirement("WIRE-42", "A caller that is on no list of the service is answered `permission_denied`.", source: "WIRE.md §1, §7, §8") {
            examination in
            guard let stranger = examination.subject.stranger else {
                throw NotApplicable("the examiner has no certificate of another name by the same authority (its ca.key is not at hand)")
            }
            let conversation = try await Conversation(try await WireProbe(examination, as: stranger), maxFrameBytes: 1_048_576)
            let (service, method) = examination.subject.service.methodWithText
            for (service, method) in [(service, method), (HealthMethods.service, HealthMethods.check.name)] {
                let id = try await conversation.request(service, method, key: "conformance-stranger")
                let fault = try fault(try await conversation.response(to: id), "permission_denied")
                guard !fault.retryable else { throw Unmet("a fault that is not retryable", came: "\(fault)") }
            }
        },
    ]

    /// The fault of a response that must have this one.
    @discardableResult
    static func fault(_ response: Response, _ code: String) throws -> WireFault {
        guard case .fault(let fault) = response.outcome, fault.code == code else {
            throw Unmet("the fault `\(code)`", came: FrameText.text(Frame(kind: .response(response))))
        }
        return fault
    }
}

extension WireRequirements {
    static let connection = [
        Requirement("WIRE-1", "The callee speaks TLS 1.3 and presents a certificate with its DNS name.", source: "WIRE.md §1") { examination in
            let probe = try await examination.connect()
            let name = examination.subject.certificateName
            guard probe.peerNames.contains(name) else { throw Unmet("the DNS name \(name)", came: probe.peerNames.joined(separator: ", ")) }
            await probe.close()
        },
        Requirement("WIRE-2", "The callee speaks no older version of TLS.", source: "WIRE.md §1") { examination in
            let foreign = ForeignTls(versions: 12...12, certificate: examination.subject.caller)
            guard try await !foreign.isServed(host: examination.subject.host, port: examination.subject.port) else {
                throw Unmet("the end of the handshake", came: "an answer over TLS 1.2")
            }
        },
        Requirement("WIRE-3", "A caller without a certificate fails the handshake.", source: "WIRE.md §1") { examination in
            let foreign = ForeignTls(versions: 13...13, certificate: nil)
            guard try await !foreign.isServed(host: examination.subject.host, port: examination.subject.port) else {
                throw Unmet("an alert", came: "a frame")
            }
        },
        Requirement(
            "WIRE-4", "A caller whose certificate is of an authority that the callee does not trust fails the handshake.", source: "WIRE.md §1"
        ) {
            examination in
            guard let foreigner = examination.subject.foreigner else { throw NotApplicable("the examiner has no certificate of another authority") }
            let foreign = ForeignTls(versions: 13...13, certificate: foreigner)
            guard try await !foreign.isServed(host: examination.subject.host, port: examination.subject.port) else {
                throw Unmet("an alert", came: "a frame")
            }
        },
        Requirement("WIRE-5", "A connection that begins no handshake is closed.", source: "WIRE.md §1, §9", isIndependent: true) { examination in
            let ended = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Bool.self)
            let channel = try await ClientBootstrap(group: ended.futureResult.eventLoop).channelInitializer { channel in
                channel.closeFuture.whenComplete { _ in ended.succeed(true) }
                return channel.eventLoop.makeSucceededVoidFuture()
            }.connect(host: examination.subject.host, port: examination.subject.port).get()
            let timer = ended.futureResult.eventLoop.scheduleTask(in: .seconds(20)) { ended.succeed(false) }
            let isEnded = try await ended.futureResult.get()
            timer.cancel()
            try? await channel.close().get()
            guard isEnded else { throw Unmet("the end of the connection within 20 s", came: "nothing") }
        },
    ]

    static let hello = [
        Requirement("WIRE-6", "The callee says hello first, without waiting for the caller's.", source: "WIRE.md §3") { examination in
            let probe = try await examination.connect()
            let event = await probe.next()
            guard case .frame(let frame) = event, case .hello = frame.kind else { throw Unmet("a hello", came: FrameText.text(event)) }
            await probe.close()
        },
        Requirement(
            "WIRE-7", "Its hello has protocol version 1, frames of at least 1024 bytes, at least one call in flight.", source: "WIRE.md §3"
        ) { examination in
            let hello = try await examination.greet().hello
            guard hello.protocolVersion == 1, hello.maxFrameBytes >= 1024, hello.maxCallsInFlight >= 1 else {
                throw Unmet("protocol_version 1, max_frame_bytes from 1024, max_calls_in_flight from 1", came: "\(hello)")
            }
        },
        Requirement("WIRE-8", "Its hello names the services that it offers.", source: "WIRE.md §3, §8") { examination in
            let services = try await examination.greet().hello.services
            let missing = examination.subject.service.rpcServices.filter { !services.contains($0) }
            guard missing.isEmpty else { throw Unmet("the services \(missing.joined(separator: ", "))", came: services.joined(separator: ", ")) }
        },
        Requirement("WIRE-9", "Another protocol version is answered with go-away `unsupported_version`.", source: "WIRE.md §3") { examination in
            let probe = try await examination.connect()
            try await probe.send(Frame(kind: .hello(Hello(protocolVersion: 2, maxFrameBytes: 4_194_304))))
            try await examination.expectGoAway("unsupported_version", on: probe)
        },
        Requirement("WIRE-10", "A caller that accepts frames of less than 1024 bytes is refused.", source: "WIRE.md §3") { examination in
            let probe = try await examination.connect()
            try await probe.send(Frame(kind: .hello(Hello(protocolVersion: 1, maxFrameBytes: 1023))))
            try await examination.expectGoAway("protocol_error", on: probe)
        },
        Requirement("WIRE-11", "A caller that says no hello is sent away.", source: "WIRE.md §1, §9", isIndependent: true) { examination in
            let probe = try await examination.connect()
            try await examination.expectGoAway("protocol_error", on: probe, within: .seconds(20))
        },
        Requirement("WIRE-12", "A frame before the hello is a protocol error.", source: "WIRE.md §3") { examination in
            let probe = try await examination.connect()
            try await probe.send(Frame(kind: .ping(Ping(nonce: 1))))
            try await examination.expectGoAway("protocol_error", on: probe)
        },
        Requirement("WIRE-13", "A second hello is a protocol error.", source: "WIRE.md §3") { examination in
            try await examination.refused(Conversation.hello())
        },
        Requirement("WIRE-14", "Unknown fields of a hello are skipped.", source: "WIRE.md §2, §11") { examination in
            let probe = try await examination.connect()
            // Frame.hello with protocol_version 1, max_frame_bytes 4096 and a field 100 of a later version.
            try await probe.send(
                raw: WireProbe.framed([0x0a, 0x0a, 0x08, 0x01, 0x20, 0x80, 0x20, 0xa2, 0x06, 0x02, 0x68, 0x69]), "a hello with a field 100")
            let id: UInt64 = 1
            try await probe.send(Conversation.frame(id, DiagnosticsEcho.service, DiagnosticsEcho.method, []))
            while true {
                let event = await probe.next()
                guard case .frame(let frame) = event else { throw Unmet("a response", came: FrameText.text(event)) }
                if case .hello = frame.kind { continue }
                guard case .response(let response) = frame.kind, response.callID == id else { throw Unmet("a response", came: FrameText.text(frame)) }
                break
            }
            await probe.close()
        },
    ]
}

/// The names of the method that most of the wire is tried with.
enum DiagnosticsEcho {
    static let service = DiagnosticsMethods.service
    static let method = DiagnosticsMethods.echo.name
}
