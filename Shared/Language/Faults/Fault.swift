/// The one error that crosses a service boundary.
///
/// It speaks to three audiences. `code` and `retryAfter` are for the calling program, `message` and `details` for the person in front of it. `cause`
/// is for the log of the service where it arose. `cause` never leaves the process.
public struct Fault: Error, Sendable {
    /// Stable and documented; callers branch on it.
    public var code: Code
    /// Safe to show to the caller: no secret, no personal data, no internals.
    public var message: String
    /// A third party's own text (an MVPD's reason for a denial), already cleaned of control characters.
    public var details: String?
    /// True when the same call may succeed later without a change by the caller.
    public var isRetryable: Bool
    /// A caller waits this long before it tries again, when there is advice.
    public var retryAfter: Duration?
    /// The real cause, for the log.
    public var cause: (any Error)?

    /// - Parameters:
    ///   - code: The fault; also decides whether a retry makes sense unless `isRetryable` says otherwise.
    ///   - message: Text for the caller; must be safe to show.
    ///   - details: A third party's text.
    ///   - isRetryable: Overrides the code's own answer.
    ///   - retryAfter: Advice for the caller.
    ///   - cause: For the log only.
    public init(
        _ code: Code, _ message: String, details: String? = nil, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.isRetryable = isRetryable ?? code.isRetryable
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// The fault for an error of unknown kind: `internal`, without text for the caller.
    public static func unexpected(_ error: any Error) -> Fault {
        if let fault = error as? Fault { return fault }
        if error is CancellationError { return Fault(.cancelled, "The call was cancelled.", cause: error) }
        return Fault(.internal, "An internal fault occurred.", cause: error)
    }
}

extension Fault: CustomStringConvertible {
    public var description: String {
        var text = "\(code.rawValue): \(message)"
        if let details { text += " (\(details))" }
        if let cause { text += " [cause: \(cause)]" }
        return text
    }
}
