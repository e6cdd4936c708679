/// What a look at a store found.
struct StoreReport: Codable, Sendable {
    struct Table: Codable, Sendable {
        let name: String
        let rows: Int
        /// Since when the oldest row should have been removed, in seconds; absent: none should.
        var overdueSeconds: Int64?
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
        return [
            "  PostgreSQL \(version), fsync \(fsync), full_page_writes \(fullPageWrites), synchronous_commit \(synchronousCommit), "
                + "\(standby), \(standbys) connected, checksums \(hasChecksums ? "on" : "off")",
            "  its clock is \(clockOffsetMilliseconds) ms from this machine's",
        ]
    }
}
