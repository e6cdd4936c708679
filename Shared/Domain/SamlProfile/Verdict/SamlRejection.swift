/// A message that failed a check of mvpd §2.3. Nothing of it may be used.
public struct SamlRejection: Error, Hashable, Sendable {
    /// The reason code, for logs, metrics and the operator.
    public let reason: RejectionReason
    /// Plain words for an operator; never a value out of the message.
    public let explanation: String
    /// Set where a time was wrong, and would be right by another clock than ours.
    public let clock: OwnClock?

    /// - Parameters:
    ///   - reason: The reason code.
    ///   - explanation: For the engineer who connects the MVPD; holds nothing personal.
    ///   - clock: How our clock looks, where a time was wrong.
    public init(_ reason: RejectionReason, _ explanation: String, clock: OwnClock? = nil) {
        self.reason = reason
        self.explanation = explanation
        self.clock = clock
    }
}

/// How our clock looks to whoever dated a message.
public enum OwnClock: String, Hashable, Sendable, CaseIterable {
    case ahead, behind
}

extension SamlRejection: CustomStringConvertible {
    public var description: String { "\(reason.rawValue): \(explanation)" }
}
