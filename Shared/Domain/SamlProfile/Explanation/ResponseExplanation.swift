/// Each check of a sign-in and how it went, for the engineer who connects an MVPD. Nothing in it is personal.
public struct ResponseExplanation: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        case passed
        case failed
        /// A check that it stands on failed.
        case notReached
        /// There was nothing to check.
        case notNeeded
        /// Something that the check needs was not available.
        case notChecked
    }

    public struct Step: Hashable, Sendable {
        public let check: Check
        public var outcome: Outcome
        /// The reason code of a failure; else empty.
        public var reason = ""
        /// The fault, or the reason why there was no check; else empty.
        public var explanation = ""
        /// The change that helps; else empty.
        public var hint = ""
    }

    /// Something that the message says.
    public struct Fact: Hashable, Sendable {
        public let name: String
        public let value: String
    }

    /// All 32, in the order of mvpd §2.3.
    public private(set) var steps: [Step]
    /// The content of the message as it was received: untrusted.
    public let facts: [Fact]

    init(steps: [Step], facts: [Fact]) {
        self.steps = steps
        self.facts = facts
    }

    /// The explanation of a message that failed before it was read.
    /// - Parameter check: The check that failed; those before it passed.
    public init(_ rejection: SamlRejection, at check: Check, hint: String) {
        steps = Check.allCases.map { other in
            other.step < check.step
                ? Step(check: other, outcome: .passed)
                : Step(check: other, outcome: .notReached, explanation: Self.notChecked(because: check))
        }
        facts = []
        fail(check, rejection, hint: hint)
    }

    static func notChecked(because check: Check) -> String { "not checked because check \(check.step) failed: \(check.title)" }

    /// The first failure.
    public var failure: Step? { steps.first { $0.outcome == .failed } }

    /// Records the outcome of a check that the caller makes itself.
    /// - Parameters:
    ///   - check: The check.
    ///   - outcome: How it went.
    ///   - explanation: Why there was no check; else empty.
    public mutating func note(_ check: Check, _ outcome: Outcome, _ explanation: String = "") {
        steps[check.step - 1].outcome = outcome
        steps[check.step - 1].explanation = explanation
    }

    /// Records the failure of a check that the caller makes itself.
    /// - Parameters:
    ///   - check: The check.
    ///   - rejection: Its reason code and what was wrong.
    ///   - hint: The change that helps.
    public mutating func fail(_ check: Check, _ rejection: SamlRejection, hint: String) {
        steps[check.step - 1] = Step(
            check: check, outcome: .failed, reason: rejection.reason.rawValue, explanation: rejection.explanation, hint: hint)
    }
}
