internal import Clocks
internal import SamlProfile

/// What a decision point answered, once it could be believed.
struct DecisionAnswer: Hashable, Sendable {
    var results: [DecisionResult]
    /// When the answer itself ends, where its form can say so.
    var validUntil: Timestamp?
}
