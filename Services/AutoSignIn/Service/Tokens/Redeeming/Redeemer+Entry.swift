internal import Faults
internal import Storage

extension Redeemer {
    /// A redeem that is accepted, as far as what is known of the value tells.
    struct Entry: Sendable {
        let attempt: Attempt
        let version: TokenVersionRecord
        let family: FamilyRecord
        let logins: [TVLogin]
        let isFirstSight: Bool
        /// Of the call's idempotency key, once the caller is known.
        var place: IdempotentPlace?

        /// Lets the device in as long as all still stands, in one round trip; not for a value that becomes the active one.
        func plan(_ record: StreamingSessionRecord, _ redemption: RedemptionRecord) -> Plan {
            var plan = Plan(for: family.id.text)
            plan.add(version.standing(family), rows: 1)
            if let used = family.used(attempt.now) { plan.add(used.update, rows: 1) }
            plan.add(redemption.insert)
            if let claim = place?.claim(now: attempt.now) { plan.add(claim, rows: 1) }
            plan.add(record.replace)
            plan.add(record.insert, rows: 1)
            return plan
        }
    }
}

extension AutoSignInStore {
    /// The session, as long as all that the verdict on a value hangs on is as these records have it.
    /// - Throws: Faults of the storage.
    func session(
        _ id: StreamingSessionID, whileStanding version: TokenVersionRecord, of family: FamilyRecord
    ) async throws(Fault) -> StreamingSessionRecord? {
        let standing = version.standing(family)
        return try await store.first(StreamingSessionRecord.whileStanding, [id] + standing.arguments) { StreamingSessionRecord(columns: &$0) }
    }

    /// Whether the device opted in, or was let in by a value of the family in the last 90 days.
    /// - Throws: Faults of the storage.
    func knows(_ device: DeviceID, _ family: FamilyRecord) async throws(Fault) -> Bool {
        if family.device == device { return true }
        let accepted: Statement = "SELECT 1 FROM redemption WHERE family_id = ? AND device_id = ? AND outcome = ? LIMIT 1"
        return try await store.first(accepted, [family.id, device, RedemptionRecord.Outcome.accepted.rawValue]) { _ in true } ?? false
    }
}
