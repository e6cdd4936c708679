/// The meaning of a response for the sign-in that waits for it.
public enum ResponseVerdict: Sendable {
    /// Every check passed but the replay check, which needs the shared store (mvpd §2.3 step 31).
    case accepted(VerifiedAssertion)
    /// The MVPD answered properly, without an assertion to use (mvpd §2.6).
    case status(ResponseStatus)
    /// A check failed.
    case rejected(SamlRejection)
}
