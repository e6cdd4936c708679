internal import EventLoops
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1

/// Comes last in the pipeline of an HTTP/1.1 connection. Its requests are answered one after the other, each by a task on the connection's own event
/// loop.
///
/// A request whose body came together with its head needs no wait at all; other bodies are handed on while they arrive. Requests that a client sends
/// ahead (RFC 9112 §9.3.2) wait here. No more is read from a client that sends too many of them, or does not read its answers. They have their turn
/// behind the requests of others.
final class Http1Conversation: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = RequestPart
    typealias OutboundIn = Never

    /// Answers a request; never fails.
    typealias Responder = @Sendable (Request, GatewayContext) async -> Reply

    /// A responder's reply, ready to be written.
    struct Reply: Sendable {
        let status: HTTPResponse.Status
        let fields: HTTPFields
        let body: ByteBuffer
    }

    private enum Phase {
        case idle
        /// The head is there; perhaps the same read brings the rest.
        case gathering(HTTPRequest, ByteBuffer)
        /// An answer is being made; the upload is a body that still arrives.
        case answering(Http1Answer.Connection, upload: Upload?)
        /// The answer went before the request's body had ended.
        case draining
        /// Nothing more is read or said.
        case closing
    }

    /// A client may take this long to make room for more answers.
    private static let patience = TimeAmount.seconds(30)
    /// A request that was sent ahead waits this long when its connection has had its turn: the loop reads from others meanwhile.
    private static let turn = TimeAmount.milliseconds(1)

    private let responder: Responder
    private let requestGuard: RequestGuard
    private let loadShedder: LoadShedder
    private let admission: LoopAdmission
    private let executor: EventLoopExecutor
    private let base: GatewayContext
    private var context: ChannelHandlerContext?
    private var phase = Phase.idle
    private var backlog = CircularBuffer<RequestPart>()
    /// The octets that wait in the backlog.
    private var backlogOctets = 0
    /// The request under way asks for no content.
    private var isHead = false
    private var task: Task<Void, Never>?
    private var stall: Scheduled<Void>?
    /// The loop's round in which a request was taken up last.
    private var lastRound: UInt64 = 0
    /// The next turn of a connection that waits for one.
    private var nextTurn: Scheduled<Void>?
    private var isTaking = false
    private var holdsRead = false
    /// The connection ends with the answer under way.
    private var isLast = false
    /// The answer to input after the request under way that cannot be served.
    private var spoiled: HTTPResponse.Status?
    /// The client sends no more.
    private var isInputClosed = false

    /// - Parameter base: The common context of the connection's requests.
    init(base: GatewayContext, eventLoop: any EventLoop, requestGuard: RequestGuard, loadShedder: LoadShedder, responder: @escaping Responder) {
        self.base = base
        self.requestGuard = requestGuard
        self.loadShedder = loadShedder
        admission = loadShedder.admission.on(eventLoop)
        self.responder = responder
        executor = EventLoopExecutor(eventLoop)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { abandon() }

    func channelInactive(context: ChannelHandlerContext) {
        abandon()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        enqueue(unwrapInboundIn(data))
        takeBacklog()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        startUpload()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if wantsMore { context.read() } else { holdsRead = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stall?.cancel()
        stall = nil
        if context.channel.isWritable {
            goOn()
        } else {
            stall = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { self.end() }
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            switch phase {
            case .answering: isLast = true
            case .idle where nextTurn != nil: isLast = true
            default: end()
            }
        case ChannelEvent.inputClosed:
            startUpload()
            breakUpload()
            isInputClosed = true
            endWhenAllIsSaid()
        case is Upload.Wish:
            if case .answering(_, let upload?) = phase { upload.isFull = false }
            readOn()
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let status = Http1Rejection.status(of: error) else { return end() }
        startUpload()
        switch phase {
        case .idle where backlog.isEmpty: refuse(status)
        case .idle, .answering(_, upload: nil): spoiled = status
        case .answering: breakUpload()
        case .gathering, .draining: end()
        case .closing: break
        }
    }

    // MARK: Requests

    /// Pieces of a body that must wait are put together, so that a small one does not keep the memory that it was read into.
    private func enqueue(_ part: RequestPart) {
        backlogOctets += Self.octets(of: part)
        if case .body(let bytes) = part, case .body(var before)? = backlog.last {
            backlog.removeLast()
            before.writeImmutableBuffer(bytes)
            backlog.append(.body(before))
        } else {
            backlog.append(part)
        }
    }

    private static func octets(of part: RequestPart) -> Int {
        switch part {
        case .head(let head): head.headerFields.reduce((head.path ?? "").utf8.count) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        case .body(let bytes): bytes.readableBytes
        case .end: 0
        }
    }

    private func forget() {
        backlog.removeAll()
        backlogOctets = 0
    }

    /// Goes on with what has arrived, as far as the phase allows.
    private func takeBacklog() {
        guard !isTaking else { return }
        isTaking = true
        while let part = backlog.popFirst() {
            guard take(part) else {
                backlog.prepend(part)
                break
            }
            // Taking it may have ended the connection.
            backlogOctets = backlog.isEmpty ? 0 : backlogOctets - Self.octets(of: part)
        }
        isTaking = false
        readOn()
    }

    /// - Returns: False when the part must wait.
    private func take(_ part: RequestPart) -> Bool {
        switch (phase, part) {
        // A client that does not read answers gets no more of them.
        case (.idle, .head) where context?.channel.isWritable == false || !hasTurn(): return false
        case (.idle, .head(let head)): phase = .gathering(head, ByteBuffer())
        case (.gathering(let head, var body), .body(let bytes)):
            phase = .idle
            body.writeImmutableBuffer(bytes)
            phase = .gathering(head, body)
        case (.gathering(let head, let body), .end): answer(head, body: body)
        case (.answering(_, let upload?), .body(let bytes)): upload.add(bytes)
        case (.answering(let connection, let upload?), .end):
            upload.finish()
            phase = .answering(connection, upload: nil)
        case (.answering, _): return false
        case (.draining, .end): phase = .idle
        default: break
        }
        return true
    }

    /// True when the next request may be taken up now; if not, it is later.
    private func hasTurn() -> Bool {
        guard nextTurn == nil else { return false }
        if admission.hasTurn(after: lastRound) { return true }
        nextTurn = executor.eventLoop.assumeIsolated().scheduleTask(in: Self.turn) {
            self.nextTurn = nil
            self.goOn()
        }
        return false
    }

    private func answer(_ head: HTTPRequest, body: ByteBuffer = ByteBuffer(), upload: Upload? = nil) {
        phase = .answering(head.headerFields.value(.connection).flatMap(Http1Answer.Connection.init) ?? .stays, upload: upload)
        isHead = head.method == .head
        let refusal = loadShedder.refusal(of: head, on: admission, after: lastRound)
        lastRound = admission.round
        if let refusal { return write(refusal) }
        var base = base
        base.body = upload == nil ? body : nil
        let request = Request(head: head, body: upload?.body ?? RequestBody(buffer: body))
        let (own, responder, eventLoop) = (NIOLoopBound(self, eventLoop: executor.eventLoop), responder, executor.eventLoop)
        let work = Task.immediate(executorPreference: executor) { [base] in
            let reply = await responder(request, base)
            if eventLoop.inEventLoop { own.value.write(reply) } else { eventLoop.execute { own.value.write(reply) } }
        }
        if case .answering = phase, task == nil { task = work }
    }

    /// The body of a request does not come with its head: it is read while the answer is made.
    private func startUpload() {
        guard let context, case .gathering(let head, let begun) = phase else { return }
        answer(head, upload: Upload(context.channel, begun))
    }

    /// The body does not end as its head said.
    private func breakUpload() {
        guard case .answering(_, let upload?) = phase else { return }
        upload.finish(HTTPParserError.invalidEOFState)
        phase = .answering(.close, upload: nil)
    }

    // MARK: Answers

    private func write(_ reply: Reply) {
        task = nil
        guard case .answering(let connection, let upload) = phase else { return }
        let ends = connection == .close || isLast || reply.fields.value(.connection) == "close"
        requestGuard.send(
            Http1Answer(status: reply.status, fields: reply.fields, body: reply.body, connection: ends ? .close : connection, isHead: isHead))
        // Sending may have found that the connection is gone.
        guard context != nil else { return }
        upload?.finish()
        phase = ends ? .closing : upload == nil ? .idle : .draining
        if ends { forget() } else { goOn() }
    }

    /// Takes up what waited for an answer to go.
    private func goOn() {
        takeBacklog()
        guard !isTaking else { return }
        startUpload()
        if let spoiled, case .idle = phase, backlog.isEmpty { refuse(spoiled) } else { endWhenAllIsSaid() }
    }

    /// The client sends no more: this side ends after the last answer, whenever the client has taken it.
    private func endWhenAllIsSaid() {
        switch phase {
        case .idle where isInputClosed && backlog.isEmpty, .draining where isInputClosed:
            phase = .closing
            requestGuard.closeOutput()
        default: break
        }
    }

    /// Refuses input that is no request.
    private func refuse(_ status: HTTPResponse.Status) {
        phase = .closing
        requestGuard.send(Http1Answer(status: status, connection: .close))
    }

    // MARK: Reading and ending

    private var wantsMore: Bool {
        guard backlog.count < Http1Bounds.mostWaiting, backlogOctets < Http1Bounds.mostWaitingOctets else { return false }
        if case .answering(_, let upload?) = phase { return !upload.isFull }
        return true
    }

    private func readOn() {
        guard holdsRead, let context, wantsMore else { return }
        holdsRead = false
        context.read()
    }

    private func end() {
        if case .answering(_, let upload?) = phase { upload.finish(ChannelError.inputClosed) }
        nextTurn?.cancel()
        nextTurn = nil
        phase = .closing
        forget()
        context?.close(promise: nil)
    }

    private func abandon() {
        if case .answering(_, let upload?) = phase { upload.finish(ChannelError.inputClosed) }
        task?.cancel()
        task = nil
        stall?.cancel()
        stall = nil
        nextTurn?.cancel()
        nextTurn = nil
        phase = .closing
        forget()
        context = nil
    }
}
