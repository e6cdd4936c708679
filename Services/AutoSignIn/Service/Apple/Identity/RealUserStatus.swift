internal import Contracts

/// How sure Apple is that a person is there (apple §2.6).
enum RealUserStatus: Int64, Sendable, Codable {
    /// An old system: no signal.
    case unsupported = 0
    case unknown = 1
    case likelyReal = 2
}

extension RealUserPolicy {
    /// Nobody is ever refused for it; without a status, none is known and checks do no harm.
    init(_ status: RealUserStatus?) {
        self = status == .likelyReal ? .skipChecks : .extraChecks
    }
}
