internal import EventLoops
internal import ContractRuntime
internal import Faults
internal import Logging
internal import NIOCore
internal import Transport
internal import Frames
internal import Spans

/// The server's side of one connection.
final class ServerConnection: PeerConnection, @unchecked Sendable {
    private static let shortTimeoutMicroseconds: UInt64 = 50_000

    let core: ServerCore
    let executor: EventLoopExecutor
    private let handshake: Handshakes.Ticket
    /// True once the connection has a place among those whose peers are known.
    private(set) var isCounted = false
    private let onEnd: @Sendable (ServerConnection) -> Void
    /// The number that all connections of the caller's program share, once its hello is in.
    private var program: UInt64?
    private var permissions: [Bool] = []
    private var caller: String?
    private var calls: [UInt64: ServerCall] = [:]
    private var traces = SplitMix64()
    /// Immediate answers of the batch that are not counted yet: most batches hold calls of one method.
    private var uncounted: (method: Int, count: Int) = (0, 0)

    init(core: ServerCore, executor: EventLoopExecutor, handshake: Handshakes.Ticket, onEnd: @escaping @Sendable (ServerConnection) -> Void) {
        self.core = core
        self.executor = executor
        self.handshake = handshake
        self.onEnd = onEnd
        super.init(
            .callee(core.settings, methods: core.rules, now: .now),
            limits: OutboundLimits(bytes: core.limits.outboundBytes, slowReaderTime: core.limits.slowReaderTime),
            eventLoop: executor.eventLoop, logger: core.logger)
    }

    /// The peer is known: the connection counts, or is one too many and is told so.
    private func takePlace() {
        core.handshakes.leave(handshake)
        isCounted = core.connectionCount.enter(limit: core.limits.connections)
        if !isCounted { core.metrics.refusedConnections.increment() }
    }

    /// Gives back what the connection has taken.
    func leavePlace() {
        core.handshakes.leave(handshake)
        if isCounted { core.connectionCount.leave() }
        isCounted = false
        if let program { core.callers.leave(program) }
        program = nil
    }

    /// - Parameter number: The number in the caller's hello; 0 of one that does not count its connections: it stands for all of its address then.
    private func enter(_ number: UInt64) {
        guard isCounted, program == nil else { return }
        let program = number == 0 ? Rendezvous.key(of: context?.remoteAddress?.ipAddress ?? "") : number
        core.callers.enter(program)
        self.program = program
    }

    override func willStart() {
        takePlace()
        permissions = core.permissions(peerNames)
        caller = HostName.roles(in: peerNames).first
        logger[metadataKey: "peer"] = "\(caller ?? "without a name")"
        if let host = HostName.of(peerNames) { logger[metadataKey: "host"] = "\(host)" }
    }

    override func didStart() {
        if !isCounted { perform(machine.refuse(.tooManyConnections, "No more connections are accepted.")) }
    }

    override func channelReadComplete(context: ChannelHandlerContext) {
        countImmediate()
        super.channelReadComplete(context: context)
    }

    override func receive(_ frame: FrameView) { receiveMisplaced(frame) }

    override func receive(_ request: RequestView) {
        let method = core.table.index(service: request.service, method: request.method)
        let timeout = request.timeoutMicroseconds
        // The clock is asked again only when the time since the read could matter.
        let now = (1...Self.shortTimeoutMicroseconds).contains(timeout) ? Instant.now : arrival
        let admission = machine.receiveRequest(
            callID: request.callID, method: requested(method), timeoutMicroseconds: timeout, arrival: arrival, now: now)
        switch admission {
        case .begin(let deadline): if let method { begin(request, method, deadline) }
        case .refuse(let fault): refuse(request.callID, method, fault)
        case .drop: break
        case .violation(let actions): perform(actions)
        }
    }

    override func perform(call action: ConnectionAction) {
        if case .opened(let hello) = action { return enter(hello.instance) }
        guard case .stopWork(let callID) = action, let call = calls.removeValue(forKey: callID) else { return }
        core.inFlight[call.method].leave()
        core.metrics.failed(call.method, .cancelled)
        call.stop()
    }

    override func didEnd(_ reason: CloseReason) {
        if case .refused(.slowReader, _) = reason { core.metrics.slowReaders.increment() }
        if case .refused(let code, let message) = reason {
            logger.notice("rpc.connection_refused", metadata: ["code": "\(code.rawValue)", "reason": "\(message)"])
        }
        onEnd(self)
    }

    override func didFail(_ error: any Error) {
        guard let error = error as? TlsError, peerNames.isEmpty else { return }
        core.metrics.handshakeFailures.increment()
        logger.info("rpc.handshake_failed", metadata: ["code": "\(error.code)", "reason": "\(error.message)"])
    }

    override func didDecongest() {
        for call in calls.values { call.resume() }
    }

    func drain() {
        perform(machine.drain(now: .now))
        settle()
    }

}

// MARK: - Calls in

extension ServerConnection {
    private func requested(_ method: Int?) -> RequestedMethod {
        guard let method else { return .unknown }
        return permissions[method] ? .offered(method) : .notPermitted
    }

    private func begin(_ request: RequestView, _ method: Int, _ deadline: ContinuousClock.Instant?) {
        let key = request.idempotencyKey
        if key == nil, request.hasIdempotencyKey {
            return refuseBegun(request.callID, method, Fault(.invalidMessage, "The idempotency key is not UTF-8 text without NUL."))
        }
        var context = CallContext(deadline: deadline, trace: request.trace ?? traces.newTrace(), idempotencyKey: key, caller: caller)
        let span = Tracing.isOn ? span(request, method, &context) : nil
        do {
            if let immediate = core.methods[method].immediate, let answer = try immediate(request.payload, context) {
                span?.end()
                return respondNow(request.callID, method, answer)
            }
        } catch {
            let fault = report(.unexpected(error), method, context.trace)
            span?.refuse(fault)
            return refuseBegun(request.callID, method, fault)
        }
        start(request, method, context, span)
    }

    /// Streams have none: they last for as long as both sides run.
    private func span(_ request: RequestView, _ method: Int, _ context: inout CallContext) -> Span? {
        let offered = core.methods[method]
        let received = request.trace != nil
        if received { context.trace = TraceSampling.entering(context.trace) }
        guard context.trace.isSampled, !offered.isStream else { return nil }
        let caller = context.trace.span
        if received { context.trace = context.trace.child() }
        return .serving(
            context.trace, parent: received ? caller : nil, "\(offered.service)/\(offered.name)",
            MethodIdentity.attributes(service: offered.service, method: offered.name)
                + (self.caller.map { [SpanAttribute("boxoffice.rpc.caller", .text($0))] } ?? []))
    }

    private func start(_ request: RequestView, _ method: Int, _ context: CallContext, _ span: Span?) {
        guard core.inFlight[method].enter(limit: core.limits.callsPerMethodInAll) else {
            let fault = Fault(.overloaded, "Too many calls of the method are in flight.", retryAfter: core.limits.overloadedRetryAfter)
            span?.refuse(fault)
            return refuseBegun(request.callID, method, fault)
        }
        let call = ServerCall(id: request.callID, method: method, trace: context.trace, span: span, connection: self)
        calls[call.id] = call
        do throws(Fault) {
            try core.methods[method].start(request.payload, context, call)
        } catch {
            fail(call, error)
        }
    }

    private func receiveMisplaced(_ frame: FrameView) {
        let verdict: ReplyVerdict
        switch frame {
        case .response(let response): verdict = machine.receiveResponse(callID: response.callID, isFault: response.isFault)
        case .streamItem(let item): verdict = machine.receiveStreamItem(callID: item.callID)
        case .streamEnd(let end): verdict = machine.receiveStreamEnd(callID: end.callID)
        default: return
        }
        if case .violation(let actions) = verdict { perform(actions) }
    }
}

// MARK: - Answers out

extension ServerConnection {
    func onEventLoop(_ body: @escaping @Sendable (ServerConnection) -> Void) {
        if eventLoop.inEventLoop { body(self) } else { eventLoop.execute { body(self) } }
    }

    func respond(_ call: ServerCall, _ answer: [UInt8]) {
        guard close(call), machine.respond(call.id) else { return call.endSpan() }
        let fault = enqueueResponse(call.id, answer)
        if let fault {
            sendFault(call.id, call.method, report(fault, call.method, call.trace))
        } else {
            core.metrics.succeeded(call.method)
        }
        call.endSpan(fault?.code)
        core.metrics.took(call.method, since: call.begun)
    }

    func sendItem<Item: Message>(_ call: ServerCall, _ item: Item) throws(Fault) {
        guard machine.sendsItem(call.id) else { return }
        enqueue(try encoder.prepareStreamItem(callID: call.id, message: item))
    }

    func sendItem(_ call: ServerCall, encoded item: [UInt8]) throws(Fault) {
        guard machine.sendsItem(call.id) else { return }
        let prepared = item.withUnsafeBytes { bytes -> Result<Int, Fault> in
            do throws(Fault) { return .success(try encoder.prepareStreamItem(callID: call.id, payload: bytes)) } catch { return .failure(error) }
        }
        enqueue(try prepared.get())
    }

    func endStream(_ call: ServerCall) {
        guard close(call), machine.endStream(call.id) else { return }
        send(Frame(kind: .streamEnd(StreamEnd(callID: call.id))))
        core.metrics.succeeded(call.method)
        core.metrics.took(call.method, since: call.begun)
    }

    func fail(_ call: ServerCall, _ fault: Fault) {
        call.endSpan(fault.code)
        guard close(call), machine.respond(call.id) else { return }
        sendFault(call.id, call.method, report(fault, call.method, call.trace))
        core.metrics.took(call.method, since: call.begun)
    }

    private func close(_ call: ServerCall) -> Bool {
        call.finish()
        guard calls.removeValue(forKey: call.id) != nil else { return false }
        core.inFlight[call.method].leave()
        return true
    }

    private func respondNow(_ callID: UInt64, _ method: Int, _ answer: [UInt8]) {
        guard machine.respond(callID) else { return }
        if let fault = enqueueResponse(callID, answer) { return refuse(callID, method, fault) }
        if uncounted.method != method { countImmediate() }
        uncounted = (method, uncounted.count + 1)
    }

    /// - Returns: Why the answer cannot be sent.
    private func enqueueResponse(_ callID: UInt64, _ answer: [UInt8]) -> Fault? {
        answer.withUnsafeBytes { bytes in
            do throws(Fault) {
                enqueue(try encoder.prepareResponse(callID: callID, payload: bytes))
                return nil
            } catch {
                return error
            }
        }
    }

    private func countImmediate() {
        if uncounted.count > 0 { core.metrics.succeeded(uncounted.method, count: uncounted.count) }
        uncounted.count = 0
    }

    private func refuseBegun(_ callID: UInt64, _ method: Int, _ fault: Fault) {
        if machine.respond(callID) { refuse(callID, method, fault) }
    }

    private func refuse(_ callID: UInt64, _ method: Int?, _ fault: Fault) {
        core.metrics.failed(method, fault.code)
        send(Frame(kind: .response(Response(callID: callID, outcome: .fault(WireFault(fault))))))
    }

    private func sendFault(_ callID: UInt64, _ method: Int, _ fault: Fault) {
        guard core.methods[method].isStream else { return refuse(callID, method, fault) }
        core.metrics.failed(method, fault.code)
        send(Frame(kind: .streamEnd(StreamEnd(callID: callID, fault: WireFault(fault)))))
    }

    /// The one place where the cause of an internal fault is still known.
    private func report(_ fault: Fault, _ method: Int, _ trace: TraceContext) -> Fault {
        guard fault.code == .internal || fault.cause != nil else { return fault }
        let offered = core.methods[method]
        logger.log(
            level: fault.code == .internal ? .error : .info, "rpc.call_failed",
            metadata: ["service": "\(offered.service)", "method": "\(offered.name)", "trace_id": "\(trace.traceID)", "fault": "\(fault)"])
        return fault
    }
}

extension Span {
    /// The call is over before it was begun.
    fileprivate func refuse(_ fault: Fault) {
        answer(fault.code, isServer: true)
        end()
    }
}
