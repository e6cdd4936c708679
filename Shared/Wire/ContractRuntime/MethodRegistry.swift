/// Takes the operations that a server offers; the generated `...Methods.register` fill it.
public protocol MethodRegistry {
    mutating func unary(_ operation: UnaryOperation)

    mutating func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<Item, any Error>
    )

    /// A second, synchronous way to answer a method, for answers that are ready in memory. It runs on the event loop and must not wait.
    ///
    /// The operation gets the encoded request and returns the encoded response, or `nil` to leave the call to the method's ordinary operation.
    mutating func immediate<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>,
        _ operation: @escaping @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?
    )

    /// The same for a stream whose items are encoded already. Fields that this program does not know go on to the caller too.
    mutating func encodedStream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<[UInt8], any Error>
    )
}

extension MethodRegistry {
    /// Leaves it to the method's ordinary operation.
    public mutating func encodedStream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<[UInt8], any Error>
    ) {}

    @inline(__always)
    public mutating func unary<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> Response
    ) {
        unary(UnaryOperation(method, operation))
    }
}
