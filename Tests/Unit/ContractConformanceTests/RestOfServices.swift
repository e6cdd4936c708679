import ContractRuntime
import Rpc

/// Everything but what is replaced.
struct RestOfServices: MethodRegistry {
    private(set) var services: RpcServices
    private let replaced: Set<String>

    init(_ services: RpcServices, replaced: [String]) {
        self.services = services
        self.replaced = Set(replaced)
    }

    mutating func unary(_ operation: UnaryOperation) {
        if !replaced.contains(operation.method.name) { services.unary(operation) }
    }

    mutating func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<Item, any Error>
    ) {
        services.stream(method, operation)
    }

    mutating func immediate<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>,
        _ operation: @escaping @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?
    ) {}
}
