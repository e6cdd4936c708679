internal import Clocks
internal import Faults
internal import Logging
internal import Storage

/// Keeps security events and says them in the log too: one event name per line, never a value.
struct SecurityLog: Sendable {
    let store: AutoSignInStore
    let metrics: AutoSignInMetrics
    let logger: Logger

    /// Stores the event and tells the log.
    /// - Throws: Faults of the storage.
    func record(_ event: SecurityEventRecord) async throws(Fault) {
        try await store.store.write { try $0.insert(event) }
        tell(event)
    }

    /// For an event that another commit has stored.
    func tell(_ event: SecurityEventRecord) {
        metrics.securityEvent(event.kind.name)
        var fields: Logger.Metadata = [:]
        if let family = event.family { fields["family"] = "\(family)" }
        if let account = event.account { fields["account"] = "\(account)" }
        if let requestor = event.requestor { fields["requestor"] = "\(requestor)" }
        logger.warning("security_event", metadata: fields.merging(["kind": "\(event.kind.name)"]) { $1 })
    }

    /// Latest first.
    func latest(_ limit: Int) async throws(Fault) -> [SecurityEventRecord] {
        try await store.store.read { try $0.securityEvents(limit: limit) }
    }
}

/// Something that an operator may want to look into. Holds no value and nothing personal.
struct SecurityEventRecord: Hashable, Sendable {
    let at: Timestamp
    let kind: SecurityEventKind
    var family: FamilyID?
    var account: AccountID?
    var requestor: RequestorID?

    static let memory: Duration = .seconds(400 * 86_400)
}

/// Names of events; new ones may be added.
struct SecurityEventKind: Hashable, Sendable {
    let name: String

    /// A superseded value came back after its time from a device that the family knows.
    static let tokenReplayed = SecurityEventKind(name: "token_replayed")
    /// The same from a device that it does not know: the family is revoked.
    static let familyRevokedByReplay = SecurityEventKind(name: "family_revoked_by_replay")
    /// A revoked value was presented.
    static let redeemRefused = SecurityEventKind(name: "redeem_refused")
    static let signInFlagged = SecurityEventKind(name: "sign_in_flagged")
    static let accountLocked = SecurityEventKind(name: "account_locked")
    static let accountUnlocked = SecurityEventKind(name: "account_unlocked")
    static let accountClosed = SecurityEventKind(name: "account_closed")
    static let signedOutEverywhere = SecurityEventKind(name: "signed_out_everywhere")
}
