/// Sends calls to a peer; the generated clients stand on it.
public protocol RpcCaller: Sendable {
    /// - Throws: `Fault`: the callee's own, or one of the wire (`unavailable`, `overloaded`, `deadline_exceeded`, ...).
    func call<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>, _ request: Request, context: CallContext
    ) async throws -> Response

    /// - Throws: `Fault` when the call cannot be sent; the stream throws one when it breaks later.
    func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>, _ request: Request, context: CallContext
    ) async throws -> AsyncThrowingStream<Item, any Error>
}
