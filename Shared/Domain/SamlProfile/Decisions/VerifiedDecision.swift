public import Clocks

/// The results of an answer that passed every check, read from verified content only.
public struct VerifiedDecision: Hashable, Sendable {
    public let results: [DecisionResult]
    /// Until when the assertion holds; nil when it does not say.
    public let notOnOrAfter: Timestamp?
}
