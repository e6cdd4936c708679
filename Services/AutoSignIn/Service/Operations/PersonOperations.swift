internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// Tells everything that the service holds about a person, and erases it (Shared/Documents/Decisions/0081).
struct PersonOperations: Sendable {
    private static let most = 1000

    let base: AutoSignInBase
    let apple: AppleOperations

    /// - Throws: As `ExportPerson`; faults of the storage.
    func export(_ holder: AccountHolder) async throws(Fault) -> AccountHolderExport {
        let query = try Self.query(holder)
        return try await base.parts.store.store.read { database in
            let accounts = try database.accounts(of: query)
            let (tables, hasMore) = try database.told(accounts, query)
            let logins = accounts.flatMap(\.logins).map { PersonLogin(mvpd: $0.mvpd.text, userID: $0.userID) }
            return AccountHolderExport(
                logins: logins, records: PersonRecords(tables: tables, remainders: Self.remainders, hasMore: hasMore))
        }
    }

    /// - Throws: As `export`.
    func erase(_ holder: AccountHolder) async throws(Fault) -> ErasedRecords {
        let query = try Self.query(holder)
        let now = base.parts.clock.now()
        let (erasure, families) = try await base.parts.store.change { [apple] database, touched in
            var erasure = PersonErasureCount()
            var families = 0
            for account in try database.accounts(of: query) {
                families += try database.erase(account, apple, &touched, &erasure, now: now)
            }
            for device in query.devices {
                erasure.add(try database.run("DELETE FROM redemption WHERE device_id = ?", [device]), of: "redemption")
            }
            for login in query.logins { try database.noteErased(login, now: now) }
            return (erasure, families)
        }
        for _ in 0..<families { base.parts.metrics.revoked(RevocationReason.accountClosed.label) }
        base.outbox.wake()
        var remainders = Self.remainders
        if erasure.keptFamilies > 0 {
            remainders.append(
                PersonRemainder(
                    name: "family", rows: UInt32(clamping: erasure.keptFamilies),
                    reason: "values on an Apple Account that Apple has yet to be told to delete, with their `token_version`; without the device",
                    end: "when Apple has been told, at the latest after 400 days"))
        }
        return ErasedRecords(tables: erasure.tables, remainders: remainders)
    }

    private static func query(_ holder: AccountHolder) throws(Fault) -> HolderQuery {
        guard holder.logins.count <= most, holder.deviceIDs.count <= most else {
            throw Fault(.invalidRequest, "At most \(most) logins and \(most) devices may be named.")
        }
        return HolderQuery(
            logins: holder.logins.map { TVLogin(mvpd: MvpdID($0.mvpd), userID: $0.userID) }, devices: holder.deviceIDs.map { DeviceID($0) })
    }

    private static let remainders = [
        PersonRemainder(
            name: "outbox", reason: "calls to Apple that end what it holds, and to authentication; tokens in them are sealed",
            end: "when they are delivered; one that was given up when an operator has it sent again"),
        PersonRemainder(
            name: "idempotency", reason: "digests of calls and sealed answers, so that a repeated call has one effect", end: "after a day"),
        PersonRemainder(name: "erased", reason: "digests of the erased logins, so that an opt-in under way makes no account", end: "after a minute"),
    ]
}

/// A person as other services know them.
struct HolderQuery: Sendable {
    let logins: [TVLogin]
    let devices: [DeviceID]
}

/// The result of an erasure.
struct PersonErasureCount: Sendable {
    private(set) var tables: [ErasedTable] = []
    var keptFamilies = 0

    mutating func add(_ count: Int, of table: String) {
        guard count > 0 else { return }
        if let place = tables.firstIndex(where: { $0.name == table }) {
            tables[place].rows += UInt32(clamping: count)
        } else {
            tables.append(ErasedTable(name: table, rows: UInt32(clamping: count)))
        }
    }
}
