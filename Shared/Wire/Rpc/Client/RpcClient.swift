public import ContractRuntime
public import Faults
public import Logging
public import NIOCore

/// Calls one peer: several addresses, one pinned name, many calls per connection.
///
/// Calls go round robin over the connections that are up. When none is, a call fails at once with `unavailable`; it waits only while a first
/// attempt to connect is under way. A failed call is made again only if its method allows it or it was certainly not begun, and only within a
/// budget of a tenth of the calls.
public final class RpcClient: RpcCaller {
    private let pool: ConnectionPool
    private let configuration: Configuration

    /// Begins to connect.
    /// - Parameter group: Where the connections live.
    public init(configuration: Configuration, group: any EventLoopGroup, logger: Logger) {
        self.configuration = configuration
        pool = ConnectionPool(configuration, group: group, logger: logger)
        pool.start()
    }

    deinit { pool.stop() }

    /// Connections that take calls.
    public var readyConnections: Int { pool.readyCount }

    /// No new calls; those in flight may finish within the drain time. Interrupts reconnecting.
    public func shutDown() async { await pool.shutDown() }

    public func call(_ method: MethodIdentity, request: [UInt8], context: CallContext) async throws(Fault) -> [UInt8] {
        let begun = ContinuousClock.now
        do throws(Fault) {
            let answer = try await attempt(method, request, prepared(context, method.idempotency, begun))
            pool.metrics.record(nil, since: begun)
            return answer
        } catch {
            pool.metrics.record(error.code, since: begun)
            throw error
        }
    }

    public func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>, _ request: Request, context: CallContext
    ) async throws -> AsyncThrowingStream<Item, any Error> {
        try await stream(method.identity, request: try request.serialized(), context: context) { payload throws(Fault) in
            try Item(serialized: payload)
        }
    }

    /// For callers whose program was not built with the method's types.
    /// - Parameter request: The encoded message.
    /// - Returns: The encoded items.
    public func stream(
        _ method: MethodIdentity, request: [UInt8], context: CallContext
    ) async throws -> AsyncThrowingStream<[UInt8], any Error> {
        try await stream(method, request: request, context: context) { payload in [UInt8](payload) }
    }

    private func stream<Item: Sendable>(
        _ method: MethodIdentity, request: [UInt8], context: CallContext, decode: @escaping PendingStreamCall<Item>.Decode
    ) async throws -> AsyncThrowingStream<Item, any Error> {
        let connection = try await pool.connection(otherThan: nil, deadline: context.deadline)
        let (items, feed) = AsyncThrowingStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(configuration.streamBuffer))
        let call = PendingStreamCall(method, context: context, payload: request, decode: decode, items: feed)
        feed.onTermination = { reason in
            if case .cancelled = reason { connection.cancel(call) }
        }
        connection.begin(call)
        return items
    }

    private func prepared(_ context: CallContext, _ idempotency: Idempotency, _ now: ContinuousClock.Instant) -> CallContext {
        var context = context
        if context.deadline == nil, let timeout = configuration.defaultTimeout { context.deadline = now.advanced(by: timeout) }
        if context.idempotencyKey == nil, idempotency == .unknown { context.idempotencyKey = IdempotencyKey.random() }
        return context
    }
}

// MARK: - Attempts

extension RpcClient {
    private func attempt(_ method: MethodIdentity, _ payload: [UInt8], _ context: CallContext) async throws(Fault) -> [UInt8] {
        pool.recordCall()
        var connection = try await pool.connection(otherThan: nil, deadline: context.deadline)
        var attempts = 1
        while true {
            switch await send(method, payload, context, over: connection) {
            case .answered(let answer): return answer
            case .failed(let fault, let mayHaveBegun):
                guard attempts < configuration.attempts, isWorthRetry(fault, mayHaveBegun, method.idempotency), pool.takeRetry() else { throw fault }
                let failed = connection
                connection = try await pool.connection(otherThan: failed, deadline: context.deadline)
                // The same callee has the same limit.
                if fault.code == .overloaded, pool.areToOneCopy(connection, failed) { throw fault }
                attempts += 1
                pool.metrics.retries.increment()
            }
        }
    }

    private func isWorthRetry(_ fault: Fault, _ mayHaveBegun: Bool, _ idempotency: Idempotency) -> Bool {
        switch fault.code {
        case .overloaded: !mayHaveBegun
        case .unavailable: !mayHaveBegun || idempotency.allowsRetry
        default: false
        }
    }

    private func send(
        _ method: MethodIdentity, _ payload: [UInt8], _ context: CallContext, over connection: ClientConnection
    ) async -> AttemptOutcome {
        let call = PendingUnaryCall(service: method.service, method: method.name, isStream: false, context: context, payload: payload)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                call.continuation = continuation
                connection.begin(call)
                // A cancellation before this line found nothing to cancel.
                if Task.isCancelled { connection.cancel(call) }
            }
        } onCancel: {
            connection.cancel(call)
        }
    }
}
