internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// Statements of an opt-in.
extension Database {
    /// The account that the caller's session opens; made when it is the person's first (apple §1.4).
    /// - Throws: `account_locked`.
    func accountForOptIn(_ caller: DeviceCaller, _ login: CallerLogin, new: AccountID, now: Timestamp) throws -> AccountID {
        let known = try caller.streaming?.account ?? accountID(of: login.person, programmer: caller.programmer)
        guard let known else {
            try insert(AccountRecord(id: new, programmer: caller.programmer, createdAt: now, logins: [login.person]))
            return new
        }
        guard let account = try account(known), account.closedAt == nil, !account.isLocked else {
            throw Fault(.accountLocked, "The account is locked.")
        }
        return known
    }

    /// The value is on the Apple Account.
    func confirm(_ family: FamilyRecord, _ touched: inout Touched, now: Timestamp) throws {
        var family = family
        family.state = .active
        family.idleAt = now + FamilyRecord.idleLimit
        try update(family)
        touched.families.insert(family.id)
        for version in try versions(of: family.id) where version.state == .pending {
            try activate(version, of: family, &touched, now: now)
        }
    }

    /// What callers see of a family.
    /// - Throws: `family_unknown`.
    func contract(_ id: FamilyID, now: Timestamp) throws -> TokenFamily {
        guard let family = try family(id) else { throw Fault.familyUnknown }
        return TokenFamily(family, sessions: try sessions(of: id).filter { $0.isLive(now) })
    }
}

extension TokenFamily {
    init(_ family: FamilyRecord, sessions: [StreamingSessionRecord]) {
        func milliseconds(_ moment: Timestamp?) -> UInt64 { moment.map { UInt64(clamping: $0.milliseconds) } ?? 0 }
        self.init(
            id: family.id.text, state: family.state, bundleID: family.bundleID.text, environment: family.environment,
            deviceLabel: family.deviceLabel, createdAtMilliseconds: milliseconds(family.createdAt),
            lastUsedAtMilliseconds: milliseconds(family.lastUsedAt), revokedAtMilliseconds: milliseconds(family.revokedAt),
            revocationReason: family.reason,
            devices: sessions.map { session in
                SignedInDevice(
                    sessionID: session.id.text, label: session.deviceLabel, requestor: session.requestor.text,
                    signedInAtMilliseconds: milliseconds(session.createdAt), expiresAtMilliseconds: milliseconds(session.expiresAt))
            })
    }
}
