/// What an MVPD decided.
enum MvpdDecision: Hashable, Sendable {
    case permit(Permit)
    case deny(Denial)

    struct Permit: Hashable, Sendable {
        /// Seconds of a re-authz obligation.
        var reauthorizeAfter: Duration?
        /// The MVPD wants the transaction recorded.
        var mustBeLogged = false
    }
}
