public import Faults

/// Sends calls to a peer; the generated clients stand on it.
public protocol RpcCaller: Sendable {
    /// Sends an encoded request.
    /// - Returns: The encoded answer.
    /// - Throws: The callee's own fault, or one of the wire (`unavailable`, `overloaded`, `deadline_exceeded`, ...).
    func call(_ method: MethodIdentity, request: [UInt8], context: CallContext) async throws(Fault) -> [UInt8]

    /// - Throws: `Fault` when the call cannot be sent; the stream throws one when it breaks later.
    func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>, _ request: Request, context: CallContext
    ) async throws -> AsyncThrowingStream<Item, any Error>
}

extension RpcCaller {
    // Messages are encoded and decoded where their types are known: what lies behind `call` is compiled once, for bytes.

    /// - Throws: As the call with bytes; `invalid_message` when the request or the answer cannot be encoded or decoded.
    @inline(__always)
    public func call<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>, _ request: Request, context: CallContext
    ) async throws(Fault) -> Response {
        let answer = try await call(method.identity, request: request.serialized(), context: context)
        return try Response(serialized: answer)
    }
}
