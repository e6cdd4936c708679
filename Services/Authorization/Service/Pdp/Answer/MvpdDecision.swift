internal import Clocks

/// What an MVPD decided.
enum MvpdDecision: Hashable, Sendable {
    case permit(Permit)
    case deny(Denial)

    struct Permit: Hashable, Sendable {
        /// When the answer itself ends.
        var validUntil: Timestamp?
        /// Seconds of a re-authz obligation.
        var reauthorizeAfter: Duration?
        /// The MVPD wants the transaction recorded.
        var mustBeLogged = false
        /// The person's parental limits as the MVPD knows them now.
        var ratings: [Rating] = []
    }

    /// A parental limit.
    struct Rating: Hashable, Sendable {
        enum Scheme: Hashable, Sendable {
            case mpaa, vChip
        }

        var scheme: Scheme
        var value: String

        /// The attribute of a session that holds it.
        var attribute: String {
            switch scheme {
            case .mpaa: "maxRating.MPAA"
            case .vChip: "maxRating.VCHIP"
            }
        }
    }
}
