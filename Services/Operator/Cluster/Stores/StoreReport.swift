internal import CommandKit
internal import Foundation
internal import ServiceKit
internal import StoragePostgres
internal import StorageSqlite

/// The findings of a look at a store.
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
        /// The offset of its clock from this machine's.
        let clockOffsetMilliseconds: Int64
    }

    let service: String
    let engine: String
    let place: String
    /// The problems that keep the service from working with it, or that lose something.
    var problems: [String] = []
    /// The remarks for an operator.
    var remarks: [String] = []
    /// The programs that have it open.
    var users: [String] = []
    /// Steps that the schema has had, of those that the program knows.
    var steps = 0
    var knownSteps = 0
    var bytes = 0
    var tables: [Table] = []
    /// The journal of SQLite.
    var journal: String?
    var server: Server?

    init(_ service: String, engine: String, place: String) { (self.service, self.engine, self.place) = (service, engine, place) }

    var isSound: Bool { problems.isEmpty }

    /// Rows are swept this often, with room for a busy service.
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

/// Makes a copy of a store as it is at one moment, beside services that run.
struct StoreSaving {
    let description: StoreDescription
    let folder: URL

    /// - Throws: `CommandFailure` or `StoreError`.
    func run() throws -> BackupManifest.Store { try description.server.map(saveDatabase) ?? saveFile() }

    private func saveFile() throws -> BackupManifest.Store {
        let file = "\(description.service).sqlite"
        let copy = folder.appendingPathComponent(file).path
        let store = try SqliteMaintenance(file: description.file)
        defer { store.close() }
        try store.copy(to: copy)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
        let saved = try SqliteMaintenance(file: copy)
        defer { saved.close() }
        let damage = try saved.damage(isDeep: true)
        guard damage.isEmpty else { throw CommandFailure("the store in \(description.file) is damaged", advice: damage.joined(separator: "; ")) }
        return BackupManifest.Store(
            service: description.service, engine: "sqlite", file: file, steps: try saved.steps(), least: try saved.leastLevel() ?? 0,
            tables: try Self.counts(try saved.tables(), saved.count))
    }

    private func saveDatabase(_ server: StoreDescription.Server) throws -> BackupManifest.Store {
        let programs = try PostgresPrograms(for: server)
        let file = "\(description.service).dump"
        let copy = folder.appendingPathComponent(file).path
        let store = try PostgresMaintenance(server.options)
        try store.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        guard let snapshot = try store.value("SELECT pg_export_snapshot()") else { throw CommandFailure("\(store.place) gives no snapshot") }
        let (tables, steps) = (try store.tables(), try store.steps())
        guard !steps.isEmpty else { throw CommandFailure("\(store.place) has no store of \(description.service) yet") }
        try programs.run("pg_dump", ["--format=custom", "--no-owner", "--no-privileges", "--snapshot=\(snapshot)", "--file=\(copy)"])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
        let saved = BackupManifest.Store(
            service: description.service, engine: "postgres", file: file, steps: steps, least: try store.leastLevel() ?? 0,
            tables: try Self.counts(tables, store.count))
        try store.run("ROLLBACK")
        return saved
    }

    static func counts(_ tables: [String], _ count: (String) throws -> Int) rethrows -> [String: Int] {
        try tables.reduce(into: [:]) { $0[$1] = try count($1) }
    }
}

/// The content of a backup's folder: `backup.json`.
struct BackupManifest: Codable {
    struct Store: Codable {
        let service: String
        let engine: String
        /// In the folder.
        let file: String
        /// Steps that the schema has had, and that a program must know.
        let steps: [String]
        let least: Int
        /// Rows of each table.
        let tables: [String: Int]
    }

    /// RFC 3339.
    let madeAt: String
    /// The version of the program that made it.
    let software: String
    let stores: [Store]

    private static let name = "backup.json"
    private static let sums = "SHA256SUMS"

    /// Writes it, and the sums of all files, into the folder.
    func write(to folder: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try WrittenFiles.replace(folder.appendingPathComponent(Self.name), with: try encoder.encode(self))
        let sums = try Subprocess.run(
            "/bin/sh", ["-c", #"cd "$1" && shift && sha256sum "$@" >SHA256SUMS && sync -f ."#, "sh", folder.path, Self.name] + stores.map(\.file))
        guard sums.status == 0 else { throw CommandFailure("cannot write \(folder.path)/\(Self.sums)", advice: sums.complaint) }
        for name in [Self.name, Self.sums] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.appendingPathComponent(name).path)
        }
    }

    /// Reads it, and compares the files with their sums.
    /// - Throws: `CommandFailure` when the folder holds no whole backup.
    static func read(_ folder: URL) throws -> BackupManifest {
        guard let content = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path),
            let manifest = try? JSONDecoder().decode(BackupManifest.self, from: content)
        else { throw CommandFailure("\(folder.path) holds no backup", advice: "name a folder that 'boxoffice store backup' has made") }
        let check = try Subprocess.run("/bin/sh", ["-c", #"cd "$1" && sha256sum --check --quiet SHA256SUMS"#, "sh", folder.path])
        guard check.status == 0 else {
            let changed = String(decoding: check.output, as: UTF8.self).split(separator: "\n").joined(separator: "; ")
            throw CommandFailure("the backup in \(folder.path) is damaged", advice: changed.isEmpty ? check.complaint : changed)
        }
        return manifest
    }
}
