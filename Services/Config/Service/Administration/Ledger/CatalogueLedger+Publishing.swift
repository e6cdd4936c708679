internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Storage

extension CatalogueLedger {
    /// The number that the next change gets: one more than the last, and never below the seconds since 1970, so that a store that starts anew
    /// does not reuse a number that somebody still holds.
    func nextVersion() throws -> UInt64 { max(try publishedVersion() + 1, UInt64(max(0, now.seconds))) }

    func publishedVersion() throws -> UInt64 { UInt64(try Int64.fetchOne(database, sql: "SELECT version FROM published") ?? 0) }

    /// What services are to have after the changes of this transaction: the newest version's document with software ids, rules and keys. It
    /// gets a new number when it differs from what they had.
    /// - Parameter keys: The JWK set that verifies software statements.
    func publish(keys: String) throws -> (configuration: Configuration, isNew: Bool) {
        let newest = try requireNewest()
        try endOverdueRules()
        var configuration = try configuration(of: newest)
        configuration.statementKeys = keys
        configuration.degradationRules = try activeRules().compactMap(\.rule)
        for index in configuration.applications.indices {
            configuration.applications[index].softwareIDs = try softwareIDs(of: configuration.applications[index].id)
        }
        let sha256 = Hex.encode(SHA256.hash(try configuration.serialized()))
        let row = try Row.fetchOne(database, sql: "SELECT version, changed_at_ms, content_sha256 FROM published")
        // A version that says the same as the one before is served under its own number all the same.
        if let row, row["content_sha256"] == sha256, UInt64(row["version"] as Int64) >= newest.version {
            configuration.version = UInt64(row["version"] as Int64)
            configuration.changedAtMilliseconds = UInt64(row["changed_at_ms"] as Int64)
            return (configuration, false)
        }
        configuration.version = max(try nextVersion(), newest.version)
        configuration.changedAtMilliseconds = UInt64(max(0, now.milliseconds))
        try database.execute(
            sql: """
                INSERT INTO published (only, version, changed_at_ms, content_sha256) VALUES (1, ?, ?, ?)
                ON CONFLICT DO UPDATE SET version = excluded.version, changed_at_ms = excluded.changed_at_ms,
                    content_sha256 = excluded.content_sha256
                """, arguments: [Int64(configuration.version), now, sha256])
        return (configuration, true)
    }
}
