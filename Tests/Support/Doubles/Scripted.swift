public import ContractRuntime
public import Faults
internal import Synchronization

/// One operation of a double: answers as it was told to and keeps the requests that it got.
///
/// These doubles know no rule, so that a unit test says all of a peer's behaviour that it stands on. `PeerDoubles` of the command line keep state and follow the
/// contracts, for a service that runs by itself.
public final class Scripted<Request: Message, Response: Sendable>: Sendable {
    public typealias Operation = @Sendable (Request, CallContext) async throws -> Response

    private struct State {
        var operation: Operation
        var requests: [Request] = []
        var contexts: [CallContext] = []
    }

    private let state: Mutex<State>

    /// Until it is told an answer, the operation fails with `unimplemented`.
    public init() {
        state = Mutex(State(operation: { _, _ in throw Fault(.unimplemented, "The double has no answer to \(Request.messageName).") }))
    }

    public init(_ operation: @escaping Operation) { state = Mutex(State(operation: operation)) }

    /// Every request so far, oldest first.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The contexts of these requests.
    public var contexts: [CallContext] { state.withLock { $0.contexts } }

    public func answer(_ operation: @escaping Operation) {
        state.withLock { $0.operation = operation }
    }

    public func answer(with response: Response) {
        answer { _, _ in response }
    }

    public func fail(with fault: Fault) {
        answer { _, _ in throw fault }
    }

    func callAsFunction(_ request: Request, _ context: CallContext) async throws -> Response {
        let operation = state.withLock { state in
            state.requests.append(request)
            state.contexts.append(context)
            return state.operation
        }
        return try await operation(request, context)
    }
}
