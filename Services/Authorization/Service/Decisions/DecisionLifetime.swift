internal import Clocks

/// The lifetime of a permit (mvpd §4.2): the decision's own re-authz seconds, else the MVPD's expiry where the endpoint says so, else the configured
/// TTL. It never goes beyond the session.
struct DecisionLifetime: Hashable, Sendable {
    /// From an obligation of the decision.
    var reauthorizeAfter: Duration?
    /// The MVPD's answer itself ends at this time; only where `authz_ttl_from_mvpd` is set.
    var mvpdExpiry: Timestamp?
    var configured: Duration?

    /// - Returns: `nil` when no source says anything: such a permit cannot be used.
    func end(now: Timestamp, sessionEnd: Timestamp) -> Timestamp? {
        guard let end = reauthorizeAfter.map({ now + $0 }) ?? mvpdExpiry ?? configured.map({ now + $0 }) else { return nil }
        return min(end, sessionEnd)
    }
}
