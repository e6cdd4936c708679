/// A message that failed a check of mvpd §2.3. Nothing of it may be used.
public struct SamlRejection: Error, Hashable, Sendable {
    /// The reason code, for logs, metrics and the operator.
    public let reason: RejectionReason
    /// Plain words for an operator; never a value out of the message.
    public let explanation: String

    /// - Parameters:
    ///   - reason: The reason code.
    ///   - explanation: For the engineer who connects the MVPD; holds nothing personal.
    public init(_ reason: RejectionReason, _ explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }
}

extension SamlRejection: CustomStringConvertible {
    public var description: String { "\(reason.rawValue): \(explanation)" }
}
