internal import ContractReflection
internal import ContractRuntime
internal import Contracts
internal import Frames

extension WireRequirements {
    /// A higher limit would take too many calls to reach.
    private static let mostCalls: UInt32 = 4096
    private static let excess = 8

    static let limits = [
        Requirement(
            "WIRE-43",
            "Calls beyond `max_calls_in_flight` are answered `overloaded` at once, with the time after which to try again; the others are not harmed.",
            source: "WIRE.md §3, §7, §9", isIndependent: true
        ) { examination in
            let conversation = try await examination.greet()
            let limit = conversation.hello.maxCallsInFlight
            guard limit <= mostCalls else { throw NotApplicable("the callee accepts \(limit) calls in flight") }
            let ids = (0..<Int(limit) + excess).map { _ in conversation.nextCallID() }
            let payload = try EchoMessage.bytes(delay: 4000)
            try await conversation.probe.send(
                ids.map { Conversation.frame($0, DiagnosticsEcho.service, DiagnosticsEcho.method, payload, .seconds(60)) })
            var order: [Bool] = []
            try await collect(Set(ids), conversation) { _, response in
                guard case .fault(let fault) = response.outcome else { return order.append(false) }
                guard fault.code == "overloaded", fault.retryable, fault.retryAfterMilliseconds > 0 else {
                    throw Unmet("`overloaded`, retryable, with retry_after_ms", came: "\(fault)")
                }
                order.append(true)
            }
            guard order.count(where: { $0 }) == excess else {
                throw Unmet("\(excess) refusals of \(ids.count) calls", came: "\(order.count { $0 }) refusals")
            }
            guard order.prefix(excess).allSatisfy({ $0 }) else { throw Unmet("the refusals before every answer", came: "refusals that waited") }
            try await examination.expectAlive(conversation)
        },
        Requirement("WIRE-44", "A frame of nearly the largest size is answered.", source: "WIRE.md §3, §9") { examination in
            let conversation = try await examination.greet()
            let size = Int(min(conversation.hello.maxFrameBytes, 4_194_304)) - 512
            guard size > 0 else { return }
            let content = [UInt8](repeating: 0x5a, count: size)
            let answer = try await conversation.call(DiagnosticsMethods.echo, EchoMessage(content: content), within: .seconds(20))
            guard answer.content == content else { throw Unmet("the \(size) bytes that were sent", came: "\(answer.content.count) bytes") }
        },
        Requirement("WIRE-45", "Several connections are served at the same time.", source: "WIRE.md §9") { examination in
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        let conversation = try await examination.greet()
                        for _ in 0..<8 { try await examination.expectAlive(conversation) }
                        await conversation.probe.close()
                    }
                }
                try await group.waitForAll()
            }
        },
        Requirement(
            "WIRE-46", "A peer that is silent is pinged; one that then sends nothing is dead: the connection is closed.", source: "WIRE.md §6",
            isIndependent: true
        ) { examination in
            let conversation = try await examination.greet()
            let event = await conversation.probe.next(within: .seconds(30))
            guard case .frame(let frame) = event, case .ping = frame.kind else { throw Unmet("a ping within 30 s", came: FrameText.text(event)) }
            try await examination.expectEnd(of: conversation.probe, within: .seconds(20))
        },
    ]

    static let streams = [
        Requirement("WIRE-47", "A stream brings items without a response, and stays open.", source: "WIRE.md §5") { examination in
            let conversation = try await examination.greet()
            let id = try await conversation.open(HealthMethods.watch, CheckHealthRequest())
            guard try await conversation.item(of: HealthMethods.watch, id) != nil else { throw Unmet("an item of the stream", came: "nothing") }
            if let event = try await conversation.next(within: .milliseconds(500)) { throw Unmet("an open stream", came: FrameText.text(event)) }
            try await examination.expectAlive(conversation)
        },
        Requirement("WIRE-48", "A cancelled stream brings nothing more; the connection goes on.", source: "WIRE.md §4, §5") { examination in
            let conversation = try await examination.greet()
            let id = try await conversation.open(HealthMethods.watch, CheckHealthRequest())
            _ = try await conversation.item(of: HealthMethods.watch, id)
            try await conversation.probe.send(Frame(kind: .cancel(Cancel(callID: id))))
            if let event = try await conversation.next(within: .milliseconds(500)) { throw Unmet("nothing", came: FrameText.text(event)) }
            try await examination.expectAlive(conversation)
        },
        Requirement("WIRE-49", "A stream ends with `deadline_exceeded` at its deadline.", source: "WIRE.md §4, §5") { examination in
            let conversation = try await examination.greet()
            let id = try await conversation.request(HealthMethods.service, HealthMethods.watch.name, timeout: .milliseconds(400))
            _ = try await conversation.item(of: HealthMethods.watch, id)
            let event = try await conversation.next()
            guard case .frame(let frame) = event, case .streamEnd(let end) = frame.kind, end.callID == id, end.fault?.code == "deadline_exceeded"
            else {
                throw Unmet("a stream_end with `deadline_exceeded`", came: FrameText.text(event))
            }
        },
    ]

    static let ends = [
        Requirement("WIRE-50", "A go-away from the caller: its calls in flight are still answered.", source: "WIRE.md §6") { examination in
            let conversation = try await examination.greet()
            let id = try await conversation.request(DiagnosticsEcho.service, DiagnosticsEcho.method, payload: EchoMessage.bytes("last", delay: 600))
            try await conversation.probe.send(Frame(kind: .goAway(GoAway(code: "shutdown", message: "The caller leaves."))))
            guard case .payload = try await conversation.response(to: id).outcome else { throw Unmet("an answer", came: "a fault") }
        },
        Requirement("WIRE-51", "A caller that closes with close_notify finds the connection closed by the callee too.", source: "WIRE.md §1") {
            examination in
            let conversation = try await examination.greet()
            try await examination.expectAlive(conversation)
            await conversation.probe.closeOutput()
            try await examination.expectEnd(of: conversation.probe)
        },
        Requirement("WIRE-52", "A caller that breaks off in the middle of a frame harms nobody else.", source: "WIRE.md §2") { examination in
            let good = try await examination.greet()
            let bad = try await examination.greet()
            try await bad.probe.send(raw: [0, 0, 1, 0, 0x12], "the beginning of a frame")
            await bad.probe.close()
            try await examination.expectAlive(good)
            try await examination.expectAlive(try await examination.greet())
        },
    ]

    static let platform = [
        Requirement("WIRE-53", "Health.Check says that the service is serving.", source: "WIRE.md §8, platform.proto Health.Check") { examination in
            let report = try await examination.greet().call(HealthMethods.check, CheckHealthRequest())
            guard report.status == .serving else { throw Unmet("SERVING_STATUS_SERVING", came: FrameText.text(report)) }
        },
        Requirement("WIRE-54", "The first item of Health.Watch comes at once and is what Check says.", source: "platform.proto Health.Watch") {
            examination in
            let conversation = try await examination.greet()
            let report = try await conversation.call(HealthMethods.check, CheckHealthRequest())
            let id = try await conversation.open(HealthMethods.watch, CheckHealthRequest())
            let item = try await conversation.item(of: HealthMethods.watch, id)
            guard item?.status == report.status else { throw Unmet("the status of Check", came: item.map { FrameText.text($0) } ?? "nothing") }
        },
        Requirement("WIRE-55", "Reflection.ListServices lists what the service offers, itself included.", source: "WIRE.md §8") { examination in
            let conversation = try await examination.greet()
            let listed = Set(try await conversation.call(ReflectionMethods.listServices, ListServicesRequest()).services)
            let expected = Set(
                examination.subject.service.rpcServices + [HealthMethods.service, ReflectionMethods.service, DiagnosticsMethods.service])
            guard listed.isSuperset(of: expected) else {
                throw Unmet("\(expected.subtracting(listed).sorted().joined(separator: ", ")) too", came: listed.sorted().joined(separator: ", "))
            }
        },
        Requirement(
            "WIRE-56", "Reflection.GetDescriptorSet returns a FileDescriptorSet that describes the service.", source: "WIRE.md §8, platform.proto"
        ) { examination in
            let answer = try await examination.greet().call(ReflectionMethods.getDescriptorSet, GetDescriptorSetRequest())
            let found: Set<String>
            do {
                found = try ContractSchema(fileDescriptorSet: answer.fileDescriptorSet).packages
            } catch {
                throw Unmet("a serialized google.protobuf.FileDescriptorSet", came: "bytes that are none: \(error)")
            }
            let packages = Set(examination.subject.service.rpcServices.map { $0.split(separator: ".").dropLast().joined(separator: ".") })
            guard found.isSuperset(of: packages) else {
                throw Unmet("files of \(packages.sorted().joined(separator: ", "))", came: found.sorted().joined(separator: ", "))
            }
        },
        Requirement("WIRE-57", "Diagnostics.Echo returns what it got, after its delay.", source: "WIRE.md §8, platform.proto EchoMessage") {
            examination in
            let conversation = try await examination.greet()
            let begin = ContinuousClock.now
            let message = EchoMessage(content: [0, 1, 2, 255], delayMilliseconds: 300)
            let answer = try await conversation.call(DiagnosticsMethods.echo, message)
            guard answer.content == message.content else { throw Unmet("the bytes that were sent", came: Bytes.text(answer.content)) }
            guard begin.duration(to: .now) >= .milliseconds(290) else { throw Unmet("the answer after 300 ms", came: "the answer at once") }
        },
        Requirement("WIRE-58", "Diagnostics.Echo refuses a delay above 60000 ms.", source: "platform.proto EchoMessage") { examination in
            let conversation = try await examination.greet()
            try await conversation.refusal(of: DiagnosticsMethods.echo, EchoMessage(delayMilliseconds: 60_001), codes: ["invalid_request"])
        },
    ]
}
