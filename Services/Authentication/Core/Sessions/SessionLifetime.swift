internal import Catalogue
internal import Clocks
internal import Contracts

/// When a new session ends (mvpd §2.4). Integration and MVPD are those that the catalogue resolved for the device's platform (rest-v1 §5).
enum SessionLifetime {
    /// - Parameters:
    ///   - isHomeBased: The MVPD recognised the home network.
    ///   - limit: `SessionNotOnOrAfter`, if the MVPD sent one.
    static func end(_ integration: Integration, _ mvpd: Mvpd, isHomeBased: Bool, limit: Timestamp?, now: Timestamp) -> Timestamp {
        if mvpd.authnTtlFromMvpd, let limit { return limit }
        let lifetime = isHomeBased ? Catalogue.hbaAuthnLifetime(integration, mvpd) : Catalogue.authnLifetime(integration, mvpd)
        let end = now + lifetime
        return limit.map { min($0, end) } ?? end
    }
}
