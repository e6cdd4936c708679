/// The protocol of one connection, without its bytes and without its clock. Input and the time go in as arguments, and actions come back. WIRE.md is
/// its prose.
///
/// The shell of it, in both roles:
/// - calls `start` once the connection is up, `heard` once per read, then hands in each frame, and performs the actions in their order;
/// - calls `advance(to:)` after each batch of reads, after each batch of answers, and when its timer fires; then sets its one timer to `nextTimer`
///   if that is earlier than the timer that is set;
/// - calls `connectionLost` when the peer closed or the network broke.
///
/// After a `close` action every method does nothing.
public struct ConnectionStateMachine: Sendable {
    public typealias Instant = ContinuousClock.Instant

    /// The version of the frames and of the rules around them.
    public static let protocolVersion: UInt32 = 1
    /// A peer that accepts less cannot even get a fault, in bytes.
    public static let smallestMaxFrameBytes: UInt32 = 1024
    /// The size that is accepted from a peer before its hello, in bytes. WIRE.md allows a peer 1024; the rest is for versions whose hellos say more.
    public static let maxFrameBytesBeforeHello = 4096

    public enum Role: Hashable, Sendable {
        /// Opened the connection, makes calls.
        case caller
        /// Accepted the connection, answers calls.
        case callee
    }

    enum Phase: Hashable, Sendable {
        case new
        case greeting
        case open
        case closed
    }

    public let role: Role
    public let settings: ConnectionSettings
    let rules: [MethodRule]

    var phase = Phase.new
    /// Times inside are spans since then: the clock's own instants are opaque to the optimizer, and cost some hundred nanoseconds per call.
    let origin: Instant
    var liveness: Liveness
    var helloDeadline: Duration?
    /// This side's go-away.
    var ownGoAway: Departure?
    /// The peer's go-away.
    var peerGoAway: Departure?
    /// The peer's hello.
    public internal(set) var peer: Hello?

    /// Caller: calls that wait for their answers.
    var outgoing = CallTable<OutgoingCall>()
    var cancelled = CancelledCalls()
    /// Callee: calls that are worked on.
    var incoming = CallTable<IncomingCall>()
    var inFlightByMethod: [Int]
    /// The highest id of a call of this connection, in either role.
    var highestCallID: UInt64 = 0
    /// `highestCallID` at the last `advance(to:)`: tells whether calls came and went in between.
    var lastSeenCallID: UInt64 = 0
    /// No call in flight has an earlier deadline; there may be none that has this one.
    var earliestDeadline: Duration?

    /// The caller's side.
    public static func caller(_ settings: ConnectionSettings, now: Instant) -> ConnectionStateMachine {
        ConnectionStateMachine(role: .caller, settings: settings, rules: [], now: now)
    }

    /// The callee's side.
    /// - Parameter methods: The offered methods; `RequestedMethod.offered` has the index.
    public static func callee(_ settings: ConnectionSettings, methods: [MethodRule], now: Instant) -> ConnectionStateMachine {
        ConnectionStateMachine(role: .callee, settings: settings, rules: methods, now: now)
    }

    private init(role: Role, settings: ConnectionSettings, rules: [MethodRule], now: Instant) {
        self.role = role
        self.settings = settings
        self.rules = rules
        origin = now
        liveness = Liveness(settings)
        inFlightByMethod = Array(repeating: 0, count: rules.count)
    }

    /// Calls in flight.
    public var callsInFlight: Int { role == .caller ? outgoing.count : incoming.count }

    /// Caller: the hello is in and neither side has said that it leaves.
    public var takesNewCalls: Bool { phase == .open && ownGoAway == nil && peerGoAway == nil }

    /// Nothing more happens.
    public var isClosed: Bool { phase == .closed }

    /// A moment as the machine keeps it.
    func elapsed(_ moment: Instant) -> Duration { origin.duration(to: moment) }
}
