public import Faults

/// How a server answers a method with one answer, without the types of its messages.
public struct UnaryOperation: Sendable {
    /// Does the work of one call.
    /// - Returns: The encoded answer.
    public typealias Work = @Sendable (CallContext) async throws -> [UInt8]

    public let method: MethodIdentity
    /// Decodes a request, whose bytes are valid during the call only.
    public let begin: @Sendable (_ request: UnsafeRawBufferPointer) throws(Fault) -> Work

    public init<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>, _ operation: @escaping @Sendable (Request, CallContext) async throws -> Response
    ) {
        self.method = method.identity
        begin = { bytes throws(Fault) in
            let request = try Request(serialized: bytes)
            return { context in try await operation(request, context).serialized() }
        }
    }

    private init(method: MethodIdentity, begin: @escaping @Sendable (UnsafeRawBufferPointer) throws(Fault) -> Work) {
        self.method = method
        self.begin = begin
    }

    /// The same operation, with something before the work of each call.
    /// - Parameter step: May wait; when it throws, the work is not begun and the call fails with what it threw.
    public func preceded(by step: @escaping @Sendable (CallContext) async throws -> Void) -> UnaryOperation {
        UnaryOperation(method: method) { [begin] bytes throws(Fault) in
            let work = try begin(bytes)
            return { context in
                try await step(context)
                return try await work(context)
            }
        }
    }
}
