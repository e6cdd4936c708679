package import Catalogue
package import Clocks
package import Contracts
package import Faults

/// The state of its session that a device may be told (rest-v1 §5).
package enum SessionState: Hashable, Sendable {
    /// An expired session is remembered for this long, so that "expired" differs from "none".
    package static let remembrance: Duration = .seconds(24 * 3600)

    case valid(SessionRecord)
    case expired
    /// The provider has ended it, not the viewer.
    case ended
    case missing

    package static let nobody = Fault(.authenticationSessionMissing, "User not authenticated")

    /// - Parameters:
    ///   - claims: The caller's own claims.
    ///   - catalogue: Ends a degraded session with its rule (rest-v1 §6.1).
    ///   - hidesDisabled: True: the session is hidden for as long as its integration is switched off.
    package static func of(
        _ record: SessionRecord?, claims: DeviceClaims, visibleIn catalogue: Catalogue, hidesDisabled: Bool = true, now: Timestamp
    ) -> SessionState {
        guard let record, claims.agree(with: record.claims) else { return .missing }
        if hidesDisabled {
            let integration = catalogue.integration(requestor: record.key.requestor.text, mvpd: record.mvpd.text)
            guard let integration, integration.enabled else { return .missing }
        }
        if now < record.expiresAt, record.isUpheld(by: catalogue, now: now) { return .valid(record) }
        return now < record.expiresAt + remembrance ? .expired : .missing
    }

    /// The state of several sessions: the first that is valid; otherwise, if one has expired, that.
    package static func of(
        _ records: [SessionRecord], claims: DeviceClaims, visibleIn catalogue: Catalogue, hidesDisabled: Bool = true, now: Timestamp
    ) -> SessionState {
        var best = SessionState.missing
        for record in records {
            let state = of(record, claims: claims, visibleIn: catalogue, hidesDisabled: hidesDisabled, now: now)
            if case .valid = state { return state }
            if case .expired = state { best = state }
        }
        return best
    }

    /// - Throws: `authentication_session_expired`, `authentication_session_invalidated` or `authentication_session_missing`.
    package func requireValid() throws(Fault) -> SessionRecord {
        switch self {
        case .valid(let record): return record
        case .expired: throw Fault(.authenticationSessionExpired, "Authentication token expired")
        case .ended: throw Fault(.authenticationSessionInvalidated, "The viewer is not signed in at the provider any more.")
        case .missing: throw Self.nobody
        }
    }
}

extension SessionRecord {
    /// False for a degraded session whose rule has ended or was removed.
    fileprivate func isUpheld(by catalogue: Catalogue, now: Timestamp) -> Bool {
        guard kind == .degraded else { return true }
        let rule = origin.rule.flatMap {
            catalogue.degradationRule($0.text, requestor: key.requestor.text, mvpd: mvpd.text)
        }
        return rule.map { $0.kind == .authnAll && $0.isActive(at: now) } ?? false
    }
}

/// A new session ends as these rules say (mvpd §2.4). Integration and MVPD are those that the catalogue resolved for the device's platform (rest-v1
/// §5).
package enum SessionLifetime {
    /// - Parameters:
    ///   - isHomeBased: The MVPD recognised the home network.
    ///   - limit: `SessionNotOnOrAfter`, if the MVPD sent one.
    package static func end(_ integration: Integration, _ mvpd: Mvpd, isHomeBased: Bool, limit: Timestamp?, now: Timestamp) -> Timestamp {
        if mvpd.authnTtlFromMvpd, let limit { return limit }
        let lifetime = isHomeBased ? Catalogue.hbaAuthnLifetime(integration, mvpd) : Catalogue.authnLifetime(integration, mvpd)
        let end = now + lifetime
        return limit.map { min($0, end) } ?? end
    }
}
