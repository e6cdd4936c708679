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
