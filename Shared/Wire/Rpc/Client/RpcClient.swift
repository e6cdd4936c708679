internal import CResolver
public import ContractRuntime
public import Faults
public import Logging
public import NIOCore
internal import NIOPosix
internal import Spans
public import Transport

/// Calls one peer: several addresses, one pinned name, many calls per connection.
///
/// Calls go to the copies that can work, to the less busy of two, or to the one that their affinity names. When no connection is up, a call fails at
/// once with `unavailable`; it waits only while a first attempt to connect is under way. A failed call is made again only if its method allows it or
/// it was certainly not begun. The budget for that is a tenth of the calls.
public final class RpcClient: RpcCaller {
    let pool: ConnectionPool
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

    /// Copies of the peer to which there is a connection, and that do not say that they cannot work.
    public var servingCopies: Int { pool.servingCopies }

    /// No new calls; those in flight may finish within the drain time. Interrupts reconnecting.
    public func shutDown() async { await pool.shutDown() }

    public func call(_ method: MethodIdentity, request: [UInt8], context: CallContext) async throws(Fault) -> [UInt8] {
        let begun = ContinuousClock.now
        let span = Span.calling(context.trace, "\(method.service)/\(method.name)", method.attributes + [peer])
        defer { span?.end() }
        var context = prepared(context, method.idempotency, begun)
        if let span { context.trace = span.context }
        do throws(Fault) {
            return try await attempt(method, request, context, begun, span)
        } catch {
            pool.metrics.failed(error.code, nanoseconds: begun.nanoseconds(to: .now))
            span?.answer(error.code)
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
        let connection = try await pool.connection(context)
        let (items, feed) = AsyncThrowingStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(configuration.streamBuffer))
        let call = PendingStreamCall(method, context: context, payload: request, decode: decode, items: feed)
        feed.onTermination = { reason in
            if case .cancelled = reason { connection.cancel(call) }
        }
        connection.begin(call)
        return items
    }

    private var peer: SpanAttribute { SpanAttribute("server.address", .text(configuration.peerName)) }

    func prepared(_ context: CallContext, _ idempotency: Idempotency, _ now: ContinuousClock.Instant) -> CallContext {
        var context = context
        if context.deadline == nil, let timeout = configuration.defaultTimeout { context.deadline = now.advanced(by: timeout) }
        if context.idempotencyKey == nil, idempotency == .unknown { context.idempotencyKey = IdempotencyKey.random() }
        return context
    }
}

// MARK: - Attempts

extension RpcClient {
    private func attempt(
        _ method: MethodIdentity, _ payload: [UInt8], _ context: CallContext, _ begun: ContinuousClock.Instant, _ span: Span?
    ) async throws(Fault) -> [UInt8] {
        var choice = try await pool.begin(context, now: begun)
        var (attempts, start) = (1, begun)
        while true {
            let outcome = await send(method, payload, context, over: choice.connection)
            let now = ContinuousClock.now
            pool.end(choice, outcome.verdict, nanoseconds: start.nanoseconds(to: now), now: now)
            switch outcome {
            case .answered(let answer):
                pool.metrics.succeeded(nanoseconds: begun.nanoseconds(to: now))
                return answer
            case .failed(let fault, let mayHaveBegun):
                guard attempts < configuration.attempts, isWorthRetry(fault, mayHaveBegun, method.idempotency), pool.takeRetry() else { throw fault }
                let failed = choice
                choice = try await pool.begin(context, otherThan: failed, now: now)
                // The same callee has the same limit.
                if fault.code == .overloaded, choice.copy == failed.copy {
                    pool.end(choice, .unknown, nanoseconds: 0, now: now)
                    throw fault
                }
                (attempts, start) = (attempts + 1, now)
                pool.metrics.retries.increment()
                span?.set("boxoffice.rpc.attempts", .integer(Int64(attempts)))
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

    func send(
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

extension AttemptOutcome {
    /// Its finding about the copy.
    fileprivate var verdict: CallVerdict {
        guard case .failed(let fault, let mayHaveBegun) = self else { return .good }
        guard mayHaveBegun else { return .unknown }
        switch fault.code {
        case .unavailable, .deadlineExceeded, .internal: return .bad
        case .cancelled, .overloaded: return .unknown
        default: return .good
        }
    }
}

extension ContinuousClock.Instant {
    fileprivate func nanoseconds(to later: ContinuousClock.Instant) -> Int64 {
        let span = duration(to: later).components
        return span.seconds * 1_000_000_000 + span.attoseconds / 1_000_000_000
    }
}

extension RpcClient {
    /// Whom a client calls, who it is, and how patient it is.
    public struct Configuration: Sendable {
        /// Copies of the peer. A name that has several addresses of one family stands for a copy at each of them.
        public var addresses: [RpcAddress]
        /// Names whose SRV records (RFC 2782) say where further copies are, for example `_authentication._tcp.example`.
        public var serviceNames: [String] = []
        /// This program runs here: copies in the same zone get its calls while they are a third of those that can work. Empty: all zones are alike.
        public var zone = ""
        /// Number of this program, the same on all connections that it makes.
        package var instance = ProcessInstance.number
        /// A name is looked up anew this often, so that copies that came or went are noticed.
        public var lookupInterval: Duration = .seconds(5)
        package var serviceLookup: @Sendable (_ name: String) async throws -> [ServiceRecord] = { try await ServiceLookup.records(of: $0) }
        package var lookup: @Sendable (_ host: String) async throws -> [String] = NameLookup.addresses
        /// To each copy, at least 1. With one per event loop a call stays on the loop of its caller, if that is one.
        public var connectionsPerAddress = 1
        /// The DNS SAN that the peer's certificate must have, for example `authentication.boxoffice`.
        public var peerName: String
        public var identity: TlsIdentity
        /// For a call with one answer whose context has no deadline; `nil` waits for ever.
        public var defaultTimeout: Duration? = .seconds(10)
        /// From the attempt to connect to the peer's hello.
        public var connectTime: Duration = .seconds(2)
        public var backoff = ReconnectBackoff()
        /// Attempts of one call at most, the first included.
        public var attempts = 3
        /// Bytes of one frame without its length prefix that are accepted, 1024 to 64 MiB.
        public var frameBytes = 16 * 1024 * 1024
        /// Calls in flight per connection before further ones are answered `overloaded`.
        public var callsPerConnection = 1024
        /// Silence of the peer after which it is pinged, and time that it has for the answer.
        public var pingInterval: Duration = .seconds(5)
        public var pingTimeout: Duration = .seconds(2)
        /// Calls in flight may go on for this long at shutdown, or when the peer leaves.
        public var drainTime: Duration = .seconds(10)
        /// Items of a stream that may wait for their consumer; a slower one loses the stream.
        public var streamBuffer = 1024
        /// Bytes that may wait for a peer that does not read; over it the connection is dropped.
        public var outboundBytes = 64 * 1024 * 1024
        /// True when copies that say that they cannot work get no calls while others can: one stream (`Health.Watch`) on each connection.
        public var followsHealth = false
        /// Name of the program, for peers' logs.
        public var software: String
        public var softwareVersion: String

        public init(addresses: [RpcAddress], peerName: String, identity: TlsIdentity, software: String, softwareVersion: String = "0") {
            self.addresses = addresses
            self.peerName = peerName
            self.identity = identity
            self.software = software
            self.softwareVersion = softwareVersion
        }
    }
}

/// Asks name servers for SRV records, with glibc's resolver and what `resolv.conf` says.
package enum ServiceLookup {
    /// Records of one answer that are read.
    private static let mostRecords = 512

    /// - Parameters:
    ///   - name: Complete: no search domain is tried.
    ///   - server: The one to ask, an IPv4 address, in place of those of the system.
    /// - Returns: The records that the name has; the resolver waits for them on a thread of its own.
    /// - Throws: `unavailable` when the name has none, or no server answers.
    package static func records(of name: String, at server: RpcAddress? = nil) async throws -> [ServiceRecord] {
        try await NIOThreadPool.singleton.runIfActive { try resolve(name, server) }
    }

    private static func resolve(_ name: String, _ server: RpcAddress?) throws(Fault) -> [ServiceRecord] {
        var found = [boxoffice_srv_record](repeating: boxoffice_srv_record(), count: mostRecords)
        let count = found.withUnsafeMutableBufferPointer { buffer in
            boxoffice_resolve_srv(name, server?.host, UInt16(clamping: server?.port ?? 0), buffer.baseAddress, buffer.count)
        }
        guard count >= 0 else {
            let reason = boxoffice_resolve_reason(count).map { String(cString: $0) } ?? "unknown"
            throw Fault(.unavailable, "The SRV records of '\(name)' cannot be resolved: \(reason).")
        }
        return found.prefix(Int(count)).map { record in
            ServiceRecord(
                target: withUnsafeBytes(of: record.target) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }, port: Int(record.port),
                priority: Int(record.priority), weight: Int(record.weight), timeToLive: Int(record.ttl))
        }
    }
}
