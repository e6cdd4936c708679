internal import NIOCore
internal import NIOPosix
internal import Frames

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
