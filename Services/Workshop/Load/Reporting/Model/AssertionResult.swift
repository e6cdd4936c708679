/// The result of one assertion.
public struct AssertionResult: Codable, Sendable, Equatable {
    /// As it was given, for example `p99<5ms`.
    public var text: String
    /// The measured value in the unit of the assertion, for people: `4.2 ms`, `0.3 %`.
    public var measured: String
    public var hasHeld: Bool

    public init(text: String, measured: String, hasHeld: Bool) {
        self.text = text
        self.measured = measured
        self.hasHeld = hasHeld
    }
}
