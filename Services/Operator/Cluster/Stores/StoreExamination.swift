internal import CommandKit
internal import Foundation
internal import ServiceKit
internal import Storage
internal import StoragePostgres
internal import StorageSqlite

/// Looks at a store without changing it, beside services that run or without them.
struct StoreExamination {
    let description: StoreDescription
    /// Reads every row, and compares indexes with their tables where the engine can.
    let isDeep: Bool

    /// From when on services say that they cannot work, and from when on hosts should be looked after, in milliseconds.
    private static let (mostOffset, notedOffset): (Int64, Int64) = (30_000, 2000)

    func report() -> StoreReport {
        var report =
            if let server = description.server {
                StoreReport(description.service, engine: "postgres", place: server.options.place)
            } else {
                StoreReport(description.service, engine: "sqlite", place: description.file)
            }
        do {
            if let server = description.server { try examine(server, &report) } else { try examineFile(&report) }
        } catch {
            report.problems.append((error as? StoreError)?.reason ?? PlainReason.of(error))
        }
        return report
    }

    private func examineFile(_ report: inout StoreReport) throws {
        if let pid = SqliteMaintenance.user(of: description.file) { report.users = [pid > 0 ? "process \(pid)" : "another container"] }
        let file = try SqliteMaintenance(file: description.file)
        defer { file.close() }
        report.compare(try file.steps(), with: description.sqlite.map(\.name), least: try file.leastLevel())
        report.problems += try file.damage(isDeep: isDeep).map { "is damaged: \($0)" }
        report.bytes = try file.bytes()
        report.journal = try file.journalMode()
        for table in try file.tables() {
            report.add(table, rows: try file.count(of: table), overdue: try overdue(table) { try file.least(of: $0, in: table) })
        }
    }

    private func examine(_ server: StoreDescription.Server, _ report: inout StoreReport) throws {
        guard let steps = description.postgres else {
            throw CommandFailure("the service keeps no store in PostgreSQL; remove \"storage\" from its settings")
        }
        let database = try PostgresMaintenance(server.options)
        report.users = try database.users()
        let standbys = try database.standbys()
        report.server = try facts(database, standbys)
        let offset = report.server?.clockOffsetMilliseconds.magnitude ?? 0
        if offset > Self.mostOffset { report.problems.append("its clock and this machine's differ by \(offset) ms; set both by NTP") }
        if (UInt64(Self.notedOffset)...UInt64(Self.mostOffset)).contains(offset) {
            report.remarks.append("its clock and this machine's differ by \(offset) ms; hosts should keep theirs within \(Self.notedOffset) ms")
        }
        report.judge(
            standbys, names: report.server?.standbyNames ?? "", isRequired: server.requireStandby, role: server.user)
        report.compare(try database.steps(), with: steps.map(\.name), least: try database.leastLevel())
        report.bytes = Int(try database.value("SELECT pg_database_size(current_database())") ?? "") ?? 0
        for row in try database.rows("SELECT CAST(indexrelid AS regclass) FROM pg_index WHERE NOT indisvalid") {
            report.problems.append("the index \(row[0] ?? "?") is not valid; REINDEX it")
        }
        if let failures = try database.value("SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()"), failures != "0" {
            report.problems.append("is damaged: \(failures) pages had a wrong checksum")
        }
        for table in try database.tables() {
            if isDeep { try database.eachRow(of: table, try database.columns(of: table)) { _ in } }
            report.add(table, rows: try database.count(of: table), overdue: try overdue(table) { try database.least(of: $0, in: table) })
        }
    }

    /// - Parameter least: Of a column.
    private func overdue(_ table: String, _ least: (String) throws -> Int64?) throws -> Int64? {
        guard let sweep = description.sweeps.first(where: { $0.table == table }), let oldest = try least(sweep.expiryColumn) else { return nil }
        let over = (Self.now - oldest - sweep.graceMilliseconds) / 1000
        return over > 0 ? over : nil
    }

    private func facts(_ database: PostgresMaintenance, _ standbys: [Standby]) throws -> StoreReport.Server {
        StoreReport.Server(
            version: try database.setting("server_version"), fsync: try database.setting("fsync"),
            fullPageWrites: try database.setting("full_page_writes"),
            synchronousCommit: try database.setting("synchronous_commit"), standbyNames: try database.setting("synchronous_standby_names"),
            standbys: standbys.count,
            connectedStandbys: standbys.filter { !$0.isHidden }.map {
                StoreReport.ConnectedStandby(name: $0.name, state: $0.state, sync: $0.sync, lagBytes: $0.lag)
            },
            hasChecksums: try database.setting("data_checksums") == "on", clockOffsetMilliseconds: try offset(database))
    }

    /// Of the quickest of three questions.
    private func offset(_ database: PostgresMaintenance) throws -> Int64 {
        var best: (wait: Int64, offset: Int64)?
        for _ in 0..<3 {
            let before = Self.now
            let theirs = Int64(try database.value("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)") ?? "") ?? before
            let wait = Self.now - before
            if wait < best?.wait ?? .max { best = (wait, theirs - before - wait / 2) }
        }
        return best?.offset ?? 0
    }

    private static var now: Int64 { Int64(Date.now.timeIntervalSince1970 * 1000) }
}
