internal import ContractRuntime
internal import Faults
internal import Rpc

/// Delays and errors of a double, at fixed intervals rather than at random.
final class Disturbance: Sendable {
    private let latency: Duration
    private let errors: Double
    private let calls = Counter()

    /// - Returns: `nil` when nothing is to be disturbed.
    init?(_ behaviour: DoubleBehaviour) {
        guard behaviour.latency > .zero || behaviour.errors > 0 else { return nil }
        latency = behaviour.latency
        errors = min(1, behaviour.errors)
    }

    /// - Throws: `unavailable` for its share of the calls, after the wait.
    func step() async throws {
        let number = Double(calls.next())
        if latency > .zero { try await Task.sleep(for: latency) }
        guard (number * errors).rounded(.down) > ((number - 1) * errors).rounded(.down) else { return }
        throw Fault(.unavailable, "The double fails on purpose.", retryAfter: .milliseconds(50))
    }
}

/// Takes operations and offers them disturbed.
struct DisturbedServices: MethodRegistry {
    private(set) var services = RpcServices()
    let disturbance: Disturbance

    mutating func unary(_ operation: UnaryOperation) {
        services.unary(operation.preceded { [disturbance] _ in try await disturbance.step() })
    }

    mutating func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<Item, any Error>
    ) {
        services.stream(method, operation)
    }

    /// Immediate answers are not offered: they could not be delayed.
    mutating func immediate<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>,
        _ operation: @escaping @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?
    ) {}
}
