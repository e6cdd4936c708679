/// The proxy's treatment of the bytes of all its connections, both ways.
package struct WireRules: Sendable, Equatable {
    /// Added to the way of each piece of bytes; the order stays.
    package var delay: Duration
    /// Added to the delay at random, from nothing to this.
    package var jitter: Duration
    /// Each way of each connection; `nil`: as fast as it goes.
    package var bytesPerSecond: Int?
    /// One byte in about so many has a bit turned, at random places; `nil`: none, at least 1.
    package var corruptsOneIn: Int?
    /// Incoming bytes are read and thrown away: both ends hold a connection on which nobody answers.
    package var isMute: Bool
    /// A new connection is closed at once.
    package var refusesConnections: Bool

    package init(
        delay: Duration = .zero, jitter: Duration = .zero, bytesPerSecond: Int? = nil, corruptsOneIn: Int? = nil, isMute: Bool = false,
        refusesConnections: Bool = false
    ) {
        self.delay = delay
        self.jitter = jitter
        self.bytesPerSecond = bytesPerSecond
        self.corruptsOneIn = corruptsOneIn
        self.isMute = isMute
        self.refusesConnections = refusesConnections
    }

    /// Bytes pass as they come.
    package static let none = WireRules()
}
