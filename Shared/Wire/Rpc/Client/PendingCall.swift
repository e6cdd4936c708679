internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Frames

/// A call that waits for its answer, on the caller's side.
///
/// `@unchecked Sendable`: what is `let` is immutable; the rest is touched on the event loop of the connection only, from `ClientConnection.begin` on.
class PendingCall: @unchecked Sendable {
    let service: String
    let method: String
    let isStream: Bool
    let context: CallContext
    let deadline: ContinuousClock.Instant?
    let payload: [UInt8]
    /// 0 until it is begun.
    var id: UInt64 = 0
    /// The caller gave it up before it was begun.
    var isCancelled = false
    var isOver = false

    init(service: String, method: String, isStream: Bool, context: CallContext, payload: [UInt8]) {
        self.service = service
        self.method = method
        self.isStream = isStream
        self.context = context
        deadline = context.deadline
        self.payload = payload
    }

    func head(now: ContinuousClock.Instant) -> RequestHead {
        RequestHead(
            callID: id, service: service, method: method, timeoutMicroseconds: RequestHead.timeoutMicroseconds(until: deadline, now: now),
            trace: context.trace, idempotencyKey: context.idempotencyKey)
    }

    /// The callee's good answer, or an item of its stream. The bytes are valid during the call only.
    /// - Returns: `false` when this side can take no more.
    func deliver(_ payload: UnsafeRawBufferPointer) -> Bool { true }

    /// - Parameter mayHaveBegun: False when it is certain that the callee did not begin.
    func fail(_ fault: Fault, mayHaveBegun: Bool) {}

    /// A stream ended as it should.
    func end() {}
}

/// One attempt of a call ended in one of these ways.
enum AttemptOutcome: Sendable {
    /// With the encoded message.
    case answered([UInt8])
    /// By the callee, or on the way.
    case failed(Fault, mayHaveBegun: Bool)
}

/// A call with one answer.
final class PendingUnaryCall: PendingCall, @unchecked Sendable {
    /// Set before the call is handed to the event loop.
    var continuation: UnsafeContinuation<AttemptOutcome, Never>?

    override func deliver(_ payload: UnsafeRawBufferPointer) -> Bool {
        finish(.answered([UInt8](payload)))
        return true
    }

    override func fail(_ fault: Fault, mayHaveBegun: Bool) {
        finish(.failed(fault, mayHaveBegun: mayHaveBegun))
    }

    private func finish(_ outcome: AttemptOutcome) {
        isOver = true
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}

/// A call with a stream of answers.
final class PendingStreamCall<Item: Sendable>: PendingCall, @unchecked Sendable {
    /// Takes an encoded item over; its bytes are valid during the call only.
    typealias Decode = @Sendable (UnsafeRawBufferPointer) throws(Fault) -> Item

    private let decode: Decode
    private let items: AsyncThrowingStream<Item, any Error>.Continuation

    init(
        _ method: MethodIdentity, context: CallContext, payload: [UInt8], decode: @escaping Decode,
        items: AsyncThrowingStream<Item, any Error>.Continuation
    ) {
        self.decode = decode
        self.items = items
        super.init(service: method.service, method: method.name, isStream: true, context: context, payload: payload)
    }

    override func deliver(_ payload: UnsafeRawBufferPointer) -> Bool {
        let fault: Fault
        do throws(Fault) {
            switch items.yield(try decode(payload)) {
            case .enqueued: return true
            case .terminated: return false
            case .dropped: fault = Fault(.overloaded, "The items of the stream are not consumed.")
            @unknown default: return false
            }
        } catch {
            fault = error
        }
        fail(fault, mayHaveBegun: true)
        return false
    }

    override func fail(_ fault: Fault, mayHaveBegun: Bool) {
        isOver = true
        items.finish(throwing: fault)
    }

    override func end() {
        isOver = true
        items.finish()
    }
}

/// Listens to what the copy at the other end says of itself, for as long as the connection lasts.
///
/// Somebody else's service may not offer `Health.Watch`: then nothing is known, and it counts as serving.
final class HealthWatch: PendingCall, @unchecked Sendable {
    private let report: @Sendable (HealthReport) -> Void

    /// - Parameter report: Called on the event loop, with each report.
    init(report: @escaping @Sendable (HealthReport) -> Void) {
        self.report = report
        let method = HealthMethods.watch.identity
        super.init(service: method.service, method: method.name, isStream: true, context: CallContext(), payload: [])
    }

    override func deliver(_ payload: UnsafeRawBufferPointer) -> Bool {
        guard let health = try? HealthReport(serialized: payload) else { return false }
        report(health)
        return true
    }

    override func fail(_ fault: Fault, mayHaveBegun: Bool) { isOver = true }

    override func end() { isOver = true }
}
