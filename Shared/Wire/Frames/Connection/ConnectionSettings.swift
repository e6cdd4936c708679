/// The hello of one side of a connection, and its time limits.
public struct ConnectionSettings: Sendable {
    /// Name of this program, for the peer's log.
    public var software: String
    public var softwareVersion: String
    /// Full names of the services that this side offers; empty for a caller.
    public var services: [String]
    /// This side runs here; empty: it does not say.
    public var zone = ""
    /// The name of its host in its certificate; empty: it has none.
    public var host = ""
    /// Caller: a number of the program, the same on all its connections; 0: it does not say.
    public var instance: UInt64 = 0
    /// The largest frame that this side accepts, in bytes without the prefix: 1024 to 64 MiB.
    public var maxFrameBytes = 4 * 1024 * 1024
    /// Callee: calls in flight that it accepts. Caller: calls that it begins before it answers `overloaded` itself.
    public var maxCallsInFlight = 1024
    /// From the start of the connection until the peer's hello.
    public var helloTimeout: Duration = .seconds(5)
    /// Silence of the peer after which it gets a ping; `nil` for never.
    public var pingInterval: Duration? = .seconds(15)
    /// Silence after a ping until the peer counts as dead.
    public var pingTimeout: Duration = .seconds(5)
    /// Time without a call in flight after which this side leaves; `nil` for never.
    public var idleTimeout: Duration? = .seconds(300)
    /// From a go-away until the calls that are still in flight are given up.
    public var drainTimeout: Duration = .seconds(10)
    /// A callee that is done after its go-away leaves the closing to the caller for this long.
    public var lingerTimeout: Duration = .seconds(1)
    /// Advice that goes with `overloaded`.
    public var overloadedRetryAfter: Duration = .milliseconds(100)

    public init(software: String, softwareVersion: String, services: [String] = []) {
        self.software = software
        self.softwareVersion = softwareVersion
        self.services = services
    }

    func hello(takesCalls: Bool) -> Hello {
        Hello(
            protocolVersion: ConnectionStateMachine.protocolVersion, software: software, softwareVersion: softwareVersion,
            maxFrameBytes: UInt32(clamping: maxFrameBytes), maxCallsInFlight: takesCalls ? UInt32(clamping: maxCallsInFlight) : 0,
            idleTimeoutMilliseconds: idleTimeout.map(Self.milliseconds) ?? 0, services: services,
            zone: zone, host: host, instance: instance)
    }

    private static func milliseconds(_ span: Duration) -> UInt32 {
        UInt32(clamping: span.components.seconds * 1000 + span.components.attoseconds / 1_000_000_000_000_000)
    }
}
