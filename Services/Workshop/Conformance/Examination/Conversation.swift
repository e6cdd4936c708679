internal import ContractRuntime
internal import Faults
internal import Frames
internal import Synchronization

/// A caller that keeps to the contract, on one connection, for one user at a time.
final class Conversation: Sendable {
    let probe: WireProbe
    /// The callee's hello.
    let hello: Hello
    private let lastCallID = Mutex<UInt64>(0)

    /// - Throws: `Unmet` when the callee does not say hello.
    init(_ probe: WireProbe, maxFrameBytes: UInt32) async throws {
        self.probe = probe
        try await probe.send(Self.hello(maxFrameBytes: maxFrameBytes))
        let event = await probe.next()
        guard case .frame(let frame) = event, case .hello(let hello) = frame.kind else {
            throw Unmet("a hello, before anything else", came: FrameText.text(event))
        }
        self.hello = hello
    }

    static func hello(maxFrameBytes: UInt32 = 16 * 1024 * 1024) -> Frame {
        Frame(kind: .hello(Hello(protocolVersion: 1, software: "boxoffice conformance", softwareVersion: "1", maxFrameBytes: maxFrameBytes)))
    }

    func nextCallID() -> UInt64 {
        lastCallID.withLock {
            $0 += 1
            return $0
        }
    }

    /// Sends a request.
    /// - Returns: Its call id.
    @discardableResult
    func request(
        _ service: String, _ method: String, payload: [UInt8] = [], timeout: Duration = .seconds(20), key: String = "", traceparent: String = "",
        id: UInt64? = nil
    ) async throws -> UInt64 {
        let id = id ?? nextCallID()
        try await probe.send(Self.frame(id, service, method, payload, timeout, key, traceparent))
        return id
    }

    static func frame(
        _ id: UInt64, _ service: String, _ method: String, _ payload: [UInt8], _ timeout: Duration = .seconds(20), _ key: String = "",
        _ traceparent: String = ""
    ) -> Frame {
        let microseconds = UInt64(timeout.components.seconds) * 1_000_000 + UInt64(timeout.components.attoseconds / 1_000_000_000_000)
        return Frame(
            kind: .request(
                Request(
                    callID: id, service: service, method: method, timeoutMicroseconds: microseconds, traceparent: traceparent, idempotencyKey: key,
                    payload: payload)))
    }

    /// The next frame that is no ping; pings are answered.
    func next(within patience: Duration = Examination.patience) async throws -> ProbeEvent? {
        let end = ContinuousClock.now + patience
        while true {
            let event = await probe.next(within: max(.zero, end - .now))
            guard case .frame(let frame) = event, case .ping(let ping) = frame.kind else { return event }
            try await probe.send(Frame(kind: .pong(Pong(nonce: ping.nonce))))
        }
    }

    /// The response to the call; frames of other calls are ignored.
    /// - Throws: `Unmet` when none comes in the time.
    func response(to id: UInt64, within patience: Duration = Examination.patience) async throws -> Response {
        let end = ContinuousClock.now + patience
        while true {
            let event = try await next(within: max(.zero, end - .now))
            guard case .frame(let frame) = event else { throw Unmet("a response to call \(id)", came: FrameText.text(event)) }
            switch frame.kind {
            case .response(let response) where response.callID == id: return response
            case .streamItem(let item) where item.callID == id: throw Unmet("a response to call \(id)", came: FrameText.text(frame))
            case .goAway, .hello: throw Unmet("a response to call \(id)", came: FrameText.text(frame))
            default: continue
            }
        }
    }

    /// The outcome of a call by method.
    func outcome<Req: Message, Res: Message>(
        of method: UnaryMethod<Req, Res>, _ request: Req, key: String? = nil, within patience: Duration = Examination.patience
    ) async throws -> CallOutcome<Res> {
        let ownKey = key ?? (method.idempotency == .unknown ? "key-\(UInt64.random(in: .min ... .max))" : "")
        let id = nextCallID()
        probe.note(FrameText.text(request), to: method.service, method.name)
        try await probe.sendQuietly(Self.frame(id, method.service, method.name, request.serialized(), patience, ownKey))
        let response = try await response(to: id, within: patience)
        switch response.outcome {
        case .fault(let fault): return .fault(fault)
        case .payload(let bytes):
            guard let answer = try? Res(serialized: bytes) else { throw Unmet("a \(Res.messageName)", came: Bytes.text(bytes)) }
            probe.noteAnswer(FrameText.text(answer))
            return .answer(answer)
        case nil: throw Unmet("a response with an outcome", came: "one without")
        }
    }

    /// The outcomes of calls that are made at the same time, in the order of the requests.
    /// - Throws: `Unmet` when one has none.
    func together<Req: Message, Res: Message>(_ method: UnaryMethod<Req, Res>, _ requests: [Req]) async throws -> [CallOutcome<Res>] {
        let ids = requests.map { _ in nextCallID() }
        try await probe.send(
            try zip(ids, requests).map { id, request in
                let key = method.idempotency == .unknown ? "key-\(UInt64.random(in: .min ... .max))" : ""
                return Self.frame(id, method.service, method.name, try request.serialized(), .seconds(20), key)
            })
        var outcomes: [UInt64: CallOutcome<Res>] = [:]
        try await WireRequirements.collect(Set(ids), self) { id, response in
            switch response.outcome {
            case .fault(let fault): outcomes[id] = .fault(fault)
            case .payload(let bytes):
                guard let answer = try? Res(serialized: bytes) else { throw Unmet("a \(Res.messageName)", came: Bytes.text(bytes)) }
                outcomes[id] = .answer(answer)
            case nil: throw Unmet("a response with an outcome", came: "one without")
            }
        }
        return ids.compactMap { outcomes[$0] }
    }

    /// The answer of a call that has to succeed.
    /// - Throws: `Unmet` for a fault.
    @discardableResult
    func call<Req: Message, Res: Message>(
        _ method: UnaryMethod<Req, Res>, _ request: Req, key: String? = nil, within patience: Duration = Examination.patience
    ) async throws -> Res {
        switch try await outcome(of: method, request, key: key, within: patience) {
        case .answer(let answer): return answer
        case .fault(let fault): throw Unmet("an answer of \(method.name)", came: "the fault `\(fault.code)`: \(fault.message)")
        }
    }

    /// A call that has to be refused.
    /// - Throws: `Unmet` when it succeeds, or is refused otherwise.
    @discardableResult
    func refusal<Req: Message, Res: Message>(
        of method: UnaryMethod<Req, Res>, _ request: Req, codes: Set<String>, key: String? = nil
    ) async throws -> WireFault {
        let expected = "the fault \(codes.sorted().map { "`\($0)`" }.joined(separator: " or ")) of \(method.name)"
        switch try await outcome(of: method, request, key: key) {
        case .answer(let answer): throw Unmet(expected, came: FrameText.text(answer))
        case .fault(let fault):
            guard codes.contains(fault.code) else { throw Unmet(expected, came: "the fault `\(fault.code)`: \(fault.message)") }
            return fault
        }
    }

    // MARK: Streams

    /// Opens a stream.
    func open<Req: Message, Item: Message>(_ method: StreamMethod<Req, Item>, _ request: Req) async throws -> UInt64 {
        try await self.request(method.service, method.name, payload: request.serialized(), timeout: .zero)
    }

    /// The next item of a stream.
    /// - Returns: `nil` when none came in the time.
    /// - Throws: `Unmet` when the stream ends, or something else comes.
    func item<Req: Message, Item: Message>(
        of method: StreamMethod<Req, Item>, _ id: UInt64, within patience: Duration = Examination.patience
    ) async throws -> Item? {
        let event = try await next(within: patience)
        guard let event else { return nil }
        guard case .frame(let frame) = event, case .streamItem(let item) = frame.kind, item.callID == id else {
            throw Unmet("an item of the stream of call \(id)", came: FrameText.text(event))
        }
        guard let value = try? Item(serialized: item.payload) else { throw Unmet("a \(Item.messageName)", came: Bytes.text(item.payload)) }
        return value
    }
}

/// The result of a call.
enum CallOutcome<Answer: Sendable>: Sendable {
    case answer(Answer)
    case fault(WireFault)
}
