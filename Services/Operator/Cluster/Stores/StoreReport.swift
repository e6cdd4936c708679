internal import CommandKit
internal import StoragePostgres

/// What a look at a store found.
struct StoreReport: Codable, Sendable {
    struct Table: Codable, Sendable {
        let name: String
        let rows: Int
        /// Since when the oldest row should have been removed, in seconds; absent: none should.
        var overdueSeconds: Int64?
    }

    struct ConnectedStandby: Codable, Sendable, Equatable {
        let name: String
        /// `streaming`, `catchup`, …
        let state: String
        /// `sync`, `quorum` or `potential`: commits wait for it, or would; `async`: they do not.
        let sync: String
        /// Octets of the log that are not on its disk yet.
        let lagBytes: Int64?
    }

    /// How safely the server keeps what it acknowledges.
    struct Server: Codable, Sendable {
        let version: String
        let fsync: String
        let fullPageWrites: String
        let synchronousCommit: String
        let standbyNames: String
        /// Standbys that are connected.
        let standbys: Int
        /// The same by name; those whose state the role may not see are not here.
        let connectedStandbys: [ConnectedStandby]
        let hasChecksums: Bool
        /// Of its clock from this machine's.
        let clockOffsetMilliseconds: Int64
    }

    let service: String
    let engine: String
    let place: String
    /// What keeps the service from working with it, or loses something.
    var problems: [String] = []
    /// What an operator should know.
    var remarks: [String] = []
    /// Who has it open.
    var users: [String] = []
    /// Steps that the schema has had, of those that the program knows.
    var steps = 0
    var knownSteps = 0
    var bytes = 0
    var tables: [Table] = []
    /// Of SQLite.
    var journal: String?
    var server: Server?

    init(_ service: String, engine: String, place: String) { (self.service, self.engine, self.place) = (service, engine, place) }

    var isSound: Bool { problems.isEmpty }

    /// How often rows are swept, with room for a busy service.
    private static let patience: Int64 = 3600

    /// Compares steps that were made with those that the program knows.
    mutating func compare(_ found: [String], with known: [String], least: Int?) {
        (steps, knownSteps) = (found.count, known.count)
        if let least, least > known.count {
            problems.append("was changed by a newer version of \(service), which this one does not understand")
        } else if !Set(found).isSubset(of: known) {
            remarks.append("was changed by a newer version of \(service)")
        }
        let missing = known.filter { !found.contains($0) }
        if !missing.isEmpty { remarks.append("lacks \(missing.count) steps of the schema, which \(service) makes at its start") }
    }

    mutating func add(_ table: String, rows: Int, overdue: Int64?) {
        tables.append(Table(name: table, rows: rows, overdueSeconds: overdue))
        if let overdue, overdue > Self.patience, !users.isEmpty {
            remarks.append("rows of \(table) should have been removed \(overdue / 60) minutes ago")
        }
    }

    /// Says whether commits wait for a standby that is there, and whether a spare one is missing.
    /// - Parameters:
    ///   - names: `synchronous_standby_names`.
    ///   - isRequired: `storage.requireStandby`.
    ///   - role: The service's.
    mutating func judge(_ standbys: [Standby], names setting: String, isRequired: Bool, role: String) {
        let names = StandbyNames(setting)
        guard isRequired || !names.names.isEmpty else {
            remarks.append("the loss of the server's disk loses what it acknowledged: it waits for no standby")
            return
        }
        guard !standbys.contains(where: \.isHidden) else {
            remarks.append("standbys: \(standbys.count) connected, their state is unknown: \(Standby.grant(to: role))")
            return
        }
        guard standbys.contains(where: \.isConfirming) else {
            problems.append("no standby that synchronous_standby_names names ('\(setting)') streams: nothing is committed")
            return
        }
        for standby in standbys where standby.sync == "async" {
            remarks.append("the standby '\(standby.name)' confirms no commits: synchronous_standby_names has no such application_name")
        }
        let missing = names.missing(in: standbys)
        // All servers are named, so that each can be the primary.
        if missing.count > 1 { remarks.append("of \(missing.joined(separator: ", ")) one may be the primary itself; the others do not stream") }
    }

    /// For a terminal.
    func lines(_ console: Console) -> [String] {
        let verdict = isSound ? console.good("sound") : console.bad("not sound")
        var lines = ["\(console.bold(service))  \(verdict)  \(place)"]
        lines += problems.map { "  \(console.bad("problem"))  \($0)" }
        lines += remarks.map { "  remark   \($0)" }
        guard knownSteps > 0 else { return lines }
        lines.append(
            "  \(engine), \(Self.size(bytes)), \(steps) of \(knownSteps) steps, "
                + (users.isEmpty ? "in use by nobody" : "in use by \(users.joined(separator: ", "))"))
        if let journal { lines.append("  journal \(journal)") }
        if let server { lines += server.lines }
        let counts = tables.map { table in
            "\(table.name) \(table.rows)" + (table.overdueSeconds.map { " (oldest over for \($0) s)" } ?? "")
        }
        lines.append("  rows: \(counts.joined(separator: ", "))")
        return lines
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 1 << 20 ? "\((bytes + 1023) / 1024) KiB" : "\((bytes + (1 << 20) - 1) >> 20) MiB"
    }
}

extension StoreReport.Server {
    fileprivate var lines: [String] {
        let standby = standbyNames.isEmpty ? "waits for no standby" : "waits for \(standbyNames)"
        let connected = connectedStandbys.map { standby in
            "  standby \(standby.name): \(standby.state), \(standby.sync), \(standby.lagBytes.map { "\($0) bytes behind" } ?? "lag unknown")"
        }
        return [
            "  PostgreSQL \(version), fsync \(fsync), full_page_writes \(fullPageWrites), synchronous_commit \(synchronousCommit), "
                + "\(standby), \(standbys) connected, checksums \(hasChecksums ? "on" : "off")",
            "  its clock is \(clockOffsetMilliseconds) ms from this machine's",
        ] + connected
    }
}
