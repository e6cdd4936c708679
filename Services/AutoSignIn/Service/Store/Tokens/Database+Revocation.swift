internal import Clocks
internal import Contracts
internal import Storage

/// Why a family was revoked, as it is kept and counted.
struct RevocationReason: Hashable, Sendable {
    let text: String

    static let optOut = RevocationReason(text: "opt_out")
    static let signOutEverywhere = RevocationReason(text: "sign_out_everywhere")
    static let flagged = RevocationReason(text: "flagged")
    static let replay = RevocationReason(text: "replay")
    static let idle = RevocationReason(text: "idle")
    static let notStored = RevocationReason(text: "not_stored")
    static let accountClosed = RevocationReason(text: "account_closed")
    static let appleLink = RevocationReason(text: "apple_link")

    /// What the metrics call it: reasons of callers' own are not told apart.
    var label: String {
        let known: [RevocationReason] = [
            .optOut, .signOutEverywhere, .flagged, .replay, .idle, .notStored, .accountClosed, .appleLink,
        ]
        return known.contains(self) ? text : "other"
    }
}

extension Database {
    /// Ends a family here and now, with its sessions; Apple and `authentication` hear of it through the outbox (apple §1.2, I1, I5).
    /// - Parameter kept: A session that stays.
    /// - Returns: The sessions that ended; none when the family was over before.
    @discardableResult
    func revoke(
        _ id: FamilyID, _ reason: RevocationReason, keeping kept: StreamingSessionID? = nil, _ touched: inout Touched, now: Timestamp
    ) throws -> [StreamingSessionRecord] {
        guard var family = try family(id), family.state != .revoked else { return [] }
        let wasAbsent = family.state == .absent
        family.state = .revoked
        family.revokedAt = now
        family.idleAt = nil
        family.reason = reason.text
        try update(family)
        touched.families.insert(id)
        let holders = try endVersions(of: family, &touched)
        if !wasAbsent {
            for token in holders { try enqueue(.delete(id, token), programmer: family.programmer, now: now) }
            try hasten(lane: OutboxLetter.lane(of: id), now: now)
        }
        let ended = try sessions(of: id).filter { $0.id != kept }
        try end(ended, now: now)
        touched.sessions.formUnion(ended.map(\.id))
        return ended
    }

    /// - Returns: The values that Apple may hold.
    private func endVersions(of family: FamilyRecord, _ touched: inout Touched) throws -> [TokenID] {
        let letters = try waitingLetters(lane: OutboxLetter.lane(of: family.id))
        let unsent = letters.filter { $0.letter.kind == .update && $0.progress.attempts == 0 }
        for letter in unsent { try remove(letter) }
        let neverSent = Set(unsent.compactMap { $0.letter.ids.last })
        var holders: [TokenID] = []
        for var version in try versions(of: family.id) {
            if [.pending, .active].contains(version.state), !neverSent.contains(version.id.text) {
                holders.append(version.id)
            } else {
                version.sealed = nil
            }
            version.state = .revoked
            try update(version, of: family)
            touched.versions.insert(version.id)
        }
        return holders
    }

    /// Ends all families of an account, and its sessions with `acr = auto`.
    /// - Parameter kept: A session that stays.
    func revokeAll(
        of account: AccountID, _ reason: RevocationReason, keeping kept: StreamingSessionID? = nil, _ touched: inout Touched, now: Timestamp
    ) throws -> (families: [FamilyID], sessions: [StreamingSessionID]) {
        var (families, ended): ([FamilyID], [StreamingSessionID]) = ([], [])
        for family in try self.families(of: account) where family.state != .revoked {
            ended += try revoke(family.id, reason, keeping: kept, &touched, now: now).map(\.id)
            families.append(family.id)
        }
        // One that was kept when its family ended before has no family left to end with.
        let left = try sessions(of: account).filter { $0.origin.context == .auto && $0.id != kept }
        try end(left, now: now)
        touched.sessions.formUnion(left.map(\.id))
        return (families, ended + left.map(\.id))
    }
}
