internal import ContractRuntime
internal import Faults
internal import NIOCore
internal import Frames
internal import Spans

/// One call that a server works on in a task.
///
/// `@unchecked Sendable`: used on the event loop of its connection only; the task of the call runs there too, by its executor preference.
final class ServerCall: @unchecked Sendable {
    let id: UInt64
    let method: Int
    let trace: TraceContext
    let begun: ContinuousClock.Instant
    /// `nil` where the trace is not recorded.
    let span: Span?
    private let connection: ServerConnection
    /// Items that a stream may send before the event loop turns to others.
    private static let longestRow = 16
    private static let shortestPause = TimeAmount.microseconds(50)
    private static let longestPause = TimeAmount.milliseconds(5)
    private var itemsInARow = 0
    private var pause = ServerCall.shortestPause
    private var task: Task<Void, Never>?
    private var isOver = false
    private var room: UnsafeContinuation<Void, any Error>?

    init(id: UInt64, method: Int, trace: TraceContext, span: Span?, connection: ServerConnection) {
        self.id = id
        self.method = method
        self.trace = trace
        self.span = span
        self.connection = connection
        begun = connection.arrival
    }

    /// Runs the work at once, up to its first wait, then whenever it can go on; always on the event loop.
    func run(_ work: @escaping @Sendable (ServerCall) async -> Void) {
        let started = Task.immediate(executorPreference: connection.executor) {
            guard let span = self.span else { return await work(self) }
            await Span.$current.withValue(span) { await work(self) }
        }
        if isOver { return }
        task = started
    }

    func respond(_ answer: [UInt8]) {
        connection.onEventLoop { $0.respond(self, answer) }
    }

    func fail(_ fault: Fault) {
        connection.onEventLoop { $0.fail(self, fault) }
    }

    func endStream() {
        connection.onEventLoop { $0.endStream(self) }
    }

    /// Sends an item; returns when there is room for another.
    /// - Throws: `CancellationError` when the caller no longer waits for it; `invalid_message`, `frame_too_large` when it cannot be sent.
    func send<Item: Message>(_ item: Item) async throws {
        try await send { call throws(Fault) in try connection.sendItem(call, item) }
    }

    /// The same for an item that is encoded already.
    func send(encoded item: [UInt8]) async throws {
        try await send { call throws(Fault) in try connection.sendItem(call, encoded: item) }
    }

    private func send(_ write: (ServerCall) throws(Fault) -> Void) async throws {
        connection.eventLoop.preconditionInEventLoop()
        guard !isOver else { throw CancellationError() }
        try write(self)
        guard connection.isWritable else { return try await withUnsafeThrowingContinuation { room = $0 } }
        itemsInARow += 1
        if itemsInARow == Self.longestRow {
            itemsInARow = 0
            await giveWay()
        }
    }

    /// Lets the event loop look at its sockets. It does so only when no task is ready, so a task that merely yields would keep it from them. So would
    /// one whose pause is over before the loop has done the rest of its work. A pause that ended late is therefore followed by a longer one.
    private func giveWay() async {
        connection.settle()
        let due = NIODeadline.now() + pause
        await withUnsafeContinuation { continuation in
            connection.eventLoop.scheduleTask(deadline: due) { continuation.resume() }
        }
        let wasLate = NIODeadline.now() - due > pause
        pause = wasLate ? min(pause * 2, Self.longestPause) : max(.nanoseconds(pause.nanoseconds / 2), Self.shortestPause)
    }

    func resume() {
        room?.resume()
        room = nil
    }

    /// Nobody waits for the call any more.
    func stop() {
        isOver = true
        endSpan(.cancelled)
        task?.cancel()
        task = nil
        room?.resume(throwing: CancellationError())
        room = nil
    }

    func finish() {
        isOver = true
        task = nil
    }

    /// - Parameter code: The code of the fault that the caller gets; `nil`: an answer.
    func endSpan(_ code: Fault.Code? = nil) {
        guard let span else { return }
        if let code { span.answer(code, isServer: true) }
        span.end()
    }
}
