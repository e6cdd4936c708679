/// Which request an answer has to name (mvpd §2.8).
public enum AnsweredRequest: Hashable, Sendable {
    /// The pending one.
    case recorded
    /// Any: a platform's framework may have sent a request of its own. Only for a caller that checks the answer against a recorded request by other
    /// means. The answer must be fresh.
    case any

    /// How old an answer to an unknown request may be.
    static let maximumAge: Duration = .seconds(300)
}
