public import ContractRuntime
public import Faults
public import Logging
public import NIOCore
internal import NIOPosix
internal import Frames

/// Gets what becomes of the calls of a `DirectConnection`; called on its event loop.
public protocol DirectConnectionOwner: AnyObject, Sendable {
    /// Calls can be made.
    func directConnectionOpened(_ connection: DirectConnection)

    /// A call got its good answer, or as many items of a stream as were wanted.
    /// - Parameters:
    ///   - payload: The encoded message, of a stream the last one, empty when it ended without any; valid during the call only.
    ///   - octets: The octets of all its messages.
    func directConnection(_ connection: DirectConnection, answered ticket: Int, payload: UnsafeRawBufferPointer, octets: Int)

    /// A call ended with a fault, of the callee or of the way to it.
    func directConnection(_ connection: DirectConnection, failed ticket: Int, _ fault: Fault)

    /// Nothing more comes; the calls in flight have failed. Once, also when it never opened.
    func directConnectionClosed(_ connection: DirectConnection, _ error: (any Error)?)
}

/// One connection to one peer, for a program that makes very many calls from the connection's own event loop. Its calls end in callbacks, not in
/// tasks, are never made again, and wait for nothing.
///
/// `@unchecked Sendable`: touched on its event loop only.
public final class DirectConnection: @unchecked Sendable {
    private var connection: ClientConnection?
    private weak var owner: (any DirectConnectionOwner)?
    private let logger: Logger
    public let eventLoop: any EventLoop
    public private(set) var isOpen = false
    /// Calls without an answer.
    public fileprivate(set) var callsInFlight = 0
    /// Calls that may be in flight at once: what this side and the peer agreed on; 0 until it is open.
    public private(set) var callLimit = 0
    private var isOver = false

    /// Begins to connect; the owner hears of the outcome.
    public init(
        to address: RpcAddress, _ configuration: RpcClient.Configuration, on eventLoop: any EventLoop, logger: Logger,
        owner: any DirectConnectionOwner
    ) {
        self.eventLoop = eventLoop
        self.owner = owner
        self.logger = logger
        let events = ClientConnection.Events(
            opened: { self.opened($0, configuration) },
            departed: { _, error in self.departed(error) })
        ClientConnection.connect(to: address, configuration, on: eventLoop, logger: logger, events: events).whenFailure { error in
            self.departed(error)
        }
    }

    /// Makes a call. Only on the event loop, and while it is open and fewer calls are in flight than the limit; otherwise the call fails.
    /// - Parameters:
    ///   - request: The encoded message.
    ///   - items: For a method that is answered by a stream: the call ends well with so many items, 1 or more, or when the peer ends the stream.
    ///     `nil`: the method has one answer.
    ///   - ticket: Names the call to the owner.
    public func call(_ method: MethodIdentity, request: [UInt8], items: Int? = nil, deadline: ContinuousClock.Instant?, ticket: Int) {
        guard let connection, let owner else { return }
        let key = method.idempotency == .unknown ? IdempotencyKey.random() : nil
        let context = CallContext(deadline: deadline, idempotencyKey: key)
        callsInFlight += 1
        connection.beginHere(DirectCall(method, context, request, items: items, ticket: ticket, self, owner))
    }

    /// Ends it after the calls in flight.
    public func leave() { connection?.leave() }

    private func opened(_ connection: ClientConnection, _ configuration: RpcClient.Configuration) {
        self.connection = connection
        isOpen = true
        callLimit = min(configuration.callsPerConnection, connection.peerCallLimit)
        owner?.directConnectionOpened(self)
    }

    private func departed(_ error: (any Error)?) {
        guard !isOver else { return }
        isOver = true
        isOpen = false
        // The calls of an ending connection fail right after this.
        eventLoop.execute {
            self.owner?.directConnectionClosed(self, error)
            self.connection = nil
        }
    }
}

/// A call whose end goes to the owner of its connection.
private final class DirectCall: PendingCall, @unchecked Sendable {
    private let ticket: Int
    private let connection: DirectConnection
    private let owner: any DirectConnectionOwner
    /// Answers that are still to come before it ends well.
    private var missing: Int
    private var octets = 0

    init(
        _ method: MethodIdentity, _ context: CallContext, _ payload: [UInt8], items: Int?, ticket: Int, _ connection: DirectConnection,
        _ owner: any DirectConnectionOwner
    ) {
        self.ticket = ticket
        self.connection = connection
        self.owner = owner
        missing = items ?? 1
        super.init(service: method.service, method: method.name, isStream: items != nil, context: context, payload: payload)
    }

    override func deliver(_ payload: UnsafeRawBufferPointer) -> Bool {
        octets += payload.count
        missing -= 1
        guard missing <= 0 else { return true }
        guard isStream else {
            succeed(payload)
            return true
        }
        // A stream that goes on is cancelled, and its place is free, before the owner hears of its end and begins another call.
        let last = [UInt8](payload)
        connection.eventLoop.execute { last.withUnsafeBytes { self.succeed($0) } }
        return false
    }

    override func end() { succeed(UnsafeRawBufferPointer(start: nil, count: 0)) }

    private func succeed(_ payload: UnsafeRawBufferPointer) {
        guard !isOver else { return }
        isOver = true
        connection.callsInFlight -= 1
        owner.directConnection(connection, answered: ticket, payload: payload, octets: octets)
    }

    override func fail(_ fault: Fault, mayHaveBegun: Bool) {
        guard !isOver else { return }
        isOver = true
        connection.callsInFlight -= 1
        owner.directConnection(connection, failed: ticket, fault)
    }
}
