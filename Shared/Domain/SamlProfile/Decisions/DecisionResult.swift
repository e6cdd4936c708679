/// A decision point's result for a resource (mvpd §4.2), in any of the forms of an answer.
public struct DecisionResult: Hashable, Sendable {
    /// Something to be done when the decision is carried out.
    public struct Obligation: Hashable, Sendable {
        public var identifier: String
        /// The decision with which it counts, `Permit` or `Deny`; nil: with any.
        public var fulfillOn: String?
        public var assignments: [Assignment]

        /// - Parameters:
        ///   - identifier: `ObligationId`.
        ///   - fulfillOn: `Permit` or `Deny`; `nil` when it was not sent.
        ///   - assignments: The obligation's parameters.
        public init(identifier: String, fulfillOn: String? = nil, assignments: [Assignment] = []) {
            self.identifier = identifier
            self.fulfillOn = fulfillOn
            self.assignments = assignments
        }
    }

    public struct Assignment: Hashable, Sendable {
        public var identifier: String
        public var texts: [String]

        /// - Parameters:
        ///   - identifier: `AttributeId`.
        ///   - texts: Its values, in order.
        public init(_ identifier: String, _ texts: [String]) {
            self.identifier = identifier
            self.texts = texts
        }
    }

    /// The resources of the result; empty when it names none.
    public var resourceIDs: [String]
    /// `Permit`, `Deny`, `NotApplicable`, `Indeterminate`, or an unknown word.
    public var decision: String
    public var statusMessage: String?
    public var obligations: [Obligation]

    /// - Parameters:
    ///   - resourceIDs: Empty when the result does not name its resources.
    ///   - decision: The decision as it was sent.
    ///   - statusMessage: The decision point's own text.
    ///   - obligations: The obligations that come with the decision.
    public init(resourceIDs: [String] = [], decision: String, statusMessage: String? = nil, obligations: [Obligation] = []) {
        self.resourceIDs = resourceIDs
        self.decision = decision
        self.statusMessage = statusMessage
        self.obligations = obligations
    }
}
