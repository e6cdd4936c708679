package import ArgumentParser
internal import CommandKit
internal import Foundation
internal import ServiceKit
internal import Storage
internal import StoragePostgres
internal import StorageSqlite

/// `boxoffice store`: what operators get around the stores of services.
package struct StoreCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Check, save and restore stores of services, and move them from SQLite to PostgreSQL.",
        discussion: """
            Each service's own program says where its store is and what its schema is. Without --settings the stores are those of the cluster in \
            $BOXOFFICE_HOME.
            """,
        subcommands: [
            StoreCheckCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self, StoreMigrateCommand.self, StorePrepareCommand.self,
        ])

    package init() {}
}

/// `boxoffice store check`.
struct StoreCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Look at the stores, beside services that run or without them; changes nothing.",
        discussion: """
            Says what is damaged, how far the schema is, what each table holds, since when its oldest row should have been removed, and how safely a server \
            keeps what it acknowledges. Ends with 0 when every store is sound, with 1 when one is not or cannot be reached.
            """)

    @Flag(help: "Also read every row, and compare indexes with their tables; a large store takes minutes.")
    var deep = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var stores: StoreOptions

    private struct Answer: Encodable {
        let isSound: Bool
        let stores: [StoreReport]
    }

    func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let reports = try stores.descriptions(home).map { StoreExamination(description: $0, isDeep: deep).report() }
        let isSound = reports.allSatisfy(\.isSound)
        let console = Console()
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            console.line(String(decoding: try encoder.encode(Answer(isSound: isSound, stores: reports)), as: UTF8.self))
        } else {
            for line in reports.flatMap({ $0.lines(console) }) { console.line(line) }
        }
        guard isSound else { throw CommandExit.failed.exitCode }
    }
}

/// `boxoffice store restore`.
struct StoreRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put stores of a backup in their places.",
        discussion: """
            The services must not run. All of the backup is checked before anything is changed. Shared/Documents/Operations/Backup.md says what a restore of \
            each store undoes.
            """)

    @Option(help: ArgumentHelp("A folder that 'boxoffice store backup' has made.", valueName: "folder"))
    var from: String

    @Flag(help: "Replace stores that are there; what they hold is lost.")
    var force = false

    @OptionGroup var stores: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let console = Console(isQuiet: json)
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let folder = URL(fileURLWithPath: from)
        let manifest = try BackupManifest.read(folder)
        let descriptions = try stores.descriptions(home)
        let restorings = manifest.stores.compactMap { saved in
            descriptions.first { $0.service == saved.service }
                .map { StoreRestoring(description: $0, saved: saved, folder: folder, isForced: force) }
        }
        if let missing = stores.service.first(where: { name in !restorings.contains { $0.saved.service == name } }) {
            throw CommandFailure("the backup has no store of \(missing)", advice: "it has \(manifest.stores.map(\.service).joined(separator: ", "))")
        }
        for restoring in restorings { try restoring.check() }
        for restoring in restorings {
            let saved = restoring.saved
            try await console.step("\(saved.service): \(saved.tables.values.reduce(0, +)) rows of \(manifest.madeAt)") { try restoring.run() }
        }
        guard json else { return }
        let restored = restorings.map { ["service": $0.saved.service, "rows": $0.saved.tables.values.reduce(0, +)] as [String: Any] }
        try JsonOutput.show(["folder": folder.path, "madeAt": manifest.madeAt, "stores": restored])
    }
}

/// `boxoffice store backup`.
struct StoreBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the stores into a folder, beside services that run.",
        discussion: """
            Each copy is one moment's, with everything that was acknowledged before it, and has been read. The folder is as confidential as the stores. Keys \
            are not in it, and are named: keep them apart from it.
            """)

    @Option(help: ArgumentHelp("A folder that is not there yet.", valueName: "folder"))
    var to: String

    @OptionGroup var stores: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let console = Console(isQuiet: json)
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let descriptions = try stores.descriptions(home)
        let folder = URL(fileURLWithPath: to)
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw CommandFailure("\(folder.path) is there already", advice: "name a folder that is not there yet")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let manifest: BackupManifest
        do {
            var saved: [BackupManifest.Store] = []
            for description in descriptions {
                let start = ContinuousClock.now
                let store = try StoreSaving(description: description, folder: folder).run()
                let rows = store.tables.values.reduce(0, +)
                console.step("\(store.service): \(rows) rows in \(store.file)", took: ContinuousClock.now - start)
                saved.append(store)
            }
            manifest = BackupManifest(madeAt: Date.now.formatted(.iso8601), software: SoftwareVersion.description, stores: saved)
            try manifest.write(to: folder)
        } catch {
            // Half a backup would pass for one.
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
        console.line("The backup is in \(folder.path).")
        let keys = descriptions.flatMap { description in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: description.data)) ?? []
            return names.filter { $0.hasSuffix(".key") }.sorted().map { "\(description.data)/\($0)" }
        }
        if !keys.isEmpty { console.line("Keys are not in it; keep these too, apart from it: \(keys.joined(separator: " "))") }
        guard json else { return }
        let saved = manifest.stores.map { ["service": $0.service, "file": $0.file, "rows": $0.tables.values.reduce(0, +)] as [String: Any] }
        try JsonOutput.show(["folder": folder.path, "madeAt": manifest.madeAt, "stores": saved, "keysToKeep": keys])
    }
}

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

    /// - Parameter least: The least value of a column.
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

    /// The offset in the quickest of three questions.
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
