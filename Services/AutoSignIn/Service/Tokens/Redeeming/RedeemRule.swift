internal import Clocks
internal import Contracts

/// Whether a value whose secret is right opens a session (apple §1.2).
enum RedeemRule {
    enum Verdict: Hashable, Sendable {
        /// - Parameters:
        ///   - isFirstSight: The device shows that the value is on the account: it becomes the active one.
        ///   - rotateSoon: It is active and older than 90 days.
        case accepted(isFirstSight: Bool, rotateSoon: Bool)
        case revoked
        /// Superseded, and its 72 hours are over.
        case replayed
        case wrongPlace
        case accountLocked
        case noLogin
    }

    /// What the device says of where it found the value.
    struct Place: Hashable, Sendable {
        let bundleID: AppleClientID
        let environment: AppleEnvironment
    }

    static func verdict(
        _ version: TokenVersionRecord, of family: FamilyRecord, _ account: AccountRecord?, at place: Place, now: Timestamp
    ) -> Verdict {
        if family.isOver || family.idleAt.map({ $0 <= now }) ?? true { return .revoked }
        let accepted: Verdict
        switch version.state {
        case .revoked, .dropped: return .revoked
        case .superseded:
            guard let since = version.supersededAt, now < since + TokenVersionRecord.grace else { return .replayed }
            accepted = .accepted(isFirstSight: false, rotateSoon: false)
        case .pending: accepted = .accepted(isFirstSight: true, rotateSoon: false)
        case .active:
            let age = now - (version.activatedAt ?? version.createdAt)
            accepted = .accepted(isFirstSight: false, rotateSoon: age > TokenVersionRecord.rotationAge)
        }
        guard family.environment == place.environment, family.bundleID == place.bundleID else { return .wrongPlace }
        guard let account, account.closedAt == nil else { return .revoked }
        if account.isLocked { return .accountLocked }
        return account.logins.isEmpty ? .noLogin : accepted
    }
}
