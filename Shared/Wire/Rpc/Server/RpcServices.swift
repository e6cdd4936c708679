public import ContractRuntime
internal import Faults

/// The operations that a server offers, in the form that the generated `…Methods.register` fills.
public struct RpcServices: MethodRegistry, Sendable {
    private(set) var methods: [OfferedMethod] = []

    public init() {}

    /// Full names, each once, in the order of registration.
    public var serviceNames: [String] {
        methods.reduce(into: []) { names, method in
            if !names.contains(method.service) { names.append(method.service) }
        }
    }

    public mutating func unary(_ operation: UnaryOperation) {
        insert(operation.method.service, operation.method.name, isStream: false) { bytes, context, call throws(Fault) in
            let work = try operation.begin(bytes)
            call.run { call in
                do {
                    call.respond(try await work(context))
                } catch {
                    call.fail(Fault.unexpected(error))
                }
            }
        }
    }

    public mutating func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<Item, any Error>
    ) {
        insert(method.service, method.name, isStream: true) { bytes, context, call throws(Fault) in
            let request = try Request(serialized: bytes)
            call.run { call in
                do {
                    for try await item in try await operation(request, context) { try await call.send(item) }
                    call.endStream()
                } catch {
                    call.fail(Fault.unexpected(error))
                }
            }
        }
    }

    /// - Precondition: The method's ordinary operation is registered.
    public mutating func immediate<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>,
        _ operation: @escaping @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?
    ) {
        guard let index = methods.firstIndex(where: { $0.service == method.service && $0.name == method.name }) else {
            preconditionFailure("\(method.service)/\(method.name) has no ordinary operation yet")
        }
        methods[index].immediate = operation
    }

    /// - Precondition: The method's ordinary operation is registered.
    public mutating func encodedStream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<[UInt8], any Error>
    ) {
        guard let index = methods.firstIndex(where: { $0.service == method.service && $0.name == method.name }) else {
            preconditionFailure("\(method.service)/\(method.name) has no ordinary operation yet")
        }
        methods.remove(at: index)
        insert(method.service, method.name, isStream: true) { bytes, context, call throws(Fault) in
            let request = try Request(serialized: bytes)
            call.run { call in
                do {
                    for try await item in try await operation(request, context) { try await call.send(encoded: item) }
                    call.endStream()
                } catch {
                    call.fail(Fault.unexpected(error))
                }
            }
        }
    }

    private mutating func insert(_ service: String, _ name: String, isStream: Bool, start: @escaping OfferedMethod.Start) {
        precondition(!methods.contains { $0.service == service && $0.name == name }, "\(service)/\(name) is registered twice")
        methods.append(OfferedMethod(service: service, name: name, isStream: isStream, start: start))
    }
}

/// A method as a server runs it, without its types.
struct OfferedMethod: Sendable {
    /// Decodes the request and starts the work of the call.
    typealias Start = @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext, _ call: ServerCall) throws(Fault) -> Void
    typealias Immediate = @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?

    let service: String
    let name: String
    let isStream: Bool
    let start: Start
    var immediate: Immediate?
}
