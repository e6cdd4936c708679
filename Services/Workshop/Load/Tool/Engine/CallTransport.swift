/// Sends calls over connections; on one worker's thread only.
public protocol CallTransport: AnyObject {
    /// Receives the ends of calls.
    var sink: (any CallSink)? { get set }
    /// Calls that can be sent now.
    var room: Int { get }
    /// Connections that are up.
    var openConnections: Int { get }

    /// Sends a call; only with room. Its end is reported exactly once, and not before this returns.
    /// - Parameters:
    ///   - ticket: Names it.
    ///   - deadline: When it counts as failed with `timeout`.
    func send(_ call: Call, ticket: Int, now: Nanoseconds, deadline: Nanoseconds)

    /// Closes all connections.
    func shutDown()
}

/// Gets the ends of calls, on the worker's thread.
public protocol CallSink: AnyObject {
    /// - Parameter bytes: The octets of the answer, as far as the transport knows.
    func ended(_ ticket: Int, _ answer: Answer, bytes: Int)

    /// There is room again, or a connection came or went.
    func transportChanged()
}
