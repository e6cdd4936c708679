/// The callee's knowledge of an offered method, on its side of a connection.
public struct MethodRule: Sendable {
    /// True when the method answers with a stream.
    public var isStream: Bool
    /// Calls of it that one connection may have in flight; `nil` for as many as the connection.
    public var maxCallsInFlight: Int?

    public init(isStream: Bool, maxCallsInFlight: Int? = nil) {
        self.isStream = isStream
        self.maxCallsInFlight = maxCallsInFlight
    }
}
