internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import ServiceKit
internal import Storage
internal import StoragePostgres
internal import StorageSqlite

/// `boxoffice store migrate`.
struct StoreMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Copy the stores from SQLite files into PostgreSQL.",
        discussion: """
            The services must not run. Each store is copied in one transaction, read back and compared; the files stay as they are. A database that has other \
            rows is refused; one that has had all of it before is left alone, so whatever ended half-way is run again.
            """)

    @Option(
        help: ArgumentHelp(
            "Folder with SERVICE/SERVICE.sqlite or SERVICE.sqlite of each service. Default: where the settings say.", valueName: "folder"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            """
            postgres (the server of the cluster in $BOXOFFICE_HOME, which is started), or the postgres:// URL of a server that has a database for each \
            service. Default: where the settings say.
            """, valueName: "store"))
    var to: String?

    @OptionGroup var stores: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard try StoreChoice(to, option: "--to") != .files else {
            throw ValidationError("--to is sqlite; give postgres, or the postgres:// URL of a server")
        }
    }

    func run() async throws {
        let (environment, console) = (ProcessInfo.processInfo.environment, Console(isQuiet: json))
        let home = ClusterHome(environment: environment, checkout: Checkout.current)
        let target = try MigrationTarget(StoreChoice(to, option: "--to"), home: home, ports: try PortPlan(environment: environment))
        defer { target.end() }
        var migrations: [StoreMigration] = []
        for description in try stores.descriptions(home) {
            guard description.postgres != nil || !stores.service.isEmpty else {
                console.line("  \(description.service) keeps its store in a file alone, and stays there")
                continue
            }
            guard let source = try source(of: description) else {
                console.line("  \(description.service) has no store in \(from ?? description.data)")
                continue
            }
            migrations.append(StoreMigration(description: description, source: source, server: try target.server(of: description)))
        }
        guard !migrations.isEmpty else { throw CommandFailure("there is no store to copy", advice: "name the folder with --from") }
        try target.prepare()
        var table = TextTable(["store", "table", "rows", "checksum"])
        var stores: [[String: Any]] = []
        for migration in migrations {
            let (name, start) = (migration.description.service, ContinuousClock.now)
            let outcome = try migration.run()
            let rows = outcome.tables.reduce(0) { $0 + $1.digest.rows }
            console.step(
                outcome.wasThere ? "\(name): all \(rows) rows are there already" : "\(name): copied \(rows) rows", took: ContinuousClock.now - start)
            let tables = outcome.tables.map { ["name": $0.name, "rows": $0.digest.rows, "checksum": $0.digest.text] as [String: Any] }
            stores.append(["service": name, "wasThere": outcome.wasThere, "rows": rows, "tables": tables])
            for copied in outcome.tables { table.add([name, copied.name, "\(copied.digest.rows)", copied.digest.text]) }
        }
        for line in table.lines { console.line(line) }
        console.line(
            "Each table was read back and is the same. The files are as they were; the services do not use them once their settings name the server.")
        if json { try JsonOutput.show(["stores": stores]) }
    }

    /// - Throws: `CommandFailure` when it was named and is not there.
    private func source(of description: StoreDescription) throws -> String? {
        let name = description.service
        let places = from.map { ["\($0)/\(name)/\(name).sqlite", "\($0)/\(name).sqlite"] } ?? [description.file]
        if let found = places.first(where: { FileManager.default.fileExists(atPath: $0) }) { return URL(fileURLWithPath: found).path }
        guard stores.service.isEmpty else { throw CommandFailure("there is no \(places[0])", advice: "name the folder with --from") }
        return nil
    }
}

/// The server that stores are copied to.
final class MigrationTarget {
    private let choice: StoreChoice
    private let cluster: ClusterStore
    private var hasStarted = false
    /// With the password of a URL, for as long as it is needed.
    private let passwordFile: URL?

    /// - Throws: `CommandFailure` when a password cannot be kept.
    init(_ choice: StoreChoice, home: ClusterHome, ports: PortPlan) throws {
        self.choice = choice
        cluster = ClusterStore(home: home, ports: ports, choice: choice)
        guard case .server(let server) = choice, !server.password.isEmpty else {
            passwordFile = nil
            return
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-\(UUID().uuidString).password")
        guard FileManager.default.createFile(atPath: file.path, contents: Data(server.password.utf8), attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure("cannot write \(file.path)", advice: "check the permissions of the folder for temporary files")
        }
        passwordFile = file
    }

    /// Starts the cluster's own server, if that is the one.
    func prepare() throws {
        guard choice == .privateServer else { return }
        hasStarted = try cluster.prepare()
    }

    /// Stops what was started, and forgets the password.
    func end() {
        if hasStarted { cluster.stop() }
        if let passwordFile { try? FileManager.default.removeItem(at: passwordFile) }
    }

    /// - Throws: `CommandFailure` when nobody says where the service's database is.
    func server(of description: StoreDescription) throws -> StoreDescription.Server {
        let name = description.service
        switch choice {
        case .asBefore, .files:
            guard let server = description.server else {
                throw CommandFailure("the settings of \(name) name no server", advice: "give one with --to")
            }
            return server
        case .privateServer:
            guard let server = ClusterService(rawValue: name).flatMap(cluster.server) else {
                throw CommandFailure("the cluster's server keeps no store of \(name)", advice: "name the others, each by --service")
            }
            return server
        case .server(let server):
            let host = server.host.contains(":") ? "[\(server.host)]" : server.host
            return StoreDescription.Server(
                hosts: ["\(host):\(server.port)"], database: name, user: server.user, passwordFile: passwordFile?.path,
                trustAnchors: server.trustAnchors)
        }
    }
}

extension ClusterStore {
    /// Returns where a service's database is in the cluster's own server; `nil`: it has none.
    func server(of service: ClusterService) -> StoreDescription.Server? {
        guard let storage = settings(of: service), let hosts = storage["hosts"] as? [String] else { return nil }
        return StoreDescription.Server(
            hosts: hosts, database: service.rawValue, user: service.rawValue, passwordFile: storage["passwordFile"] as? String)
    }
}

/// Copies a service's file into its database: all of it in one transaction, or nothing.
struct StoreMigration {
    struct Table: Equatable {
        let name: String
        let digest: RowsDigest
    }

    /// The result for a store.
    struct Outcome {
        let tables: [Table]
        /// The database had all of it before.
        let wasThere: Bool
    }

    let description: StoreDescription
    /// The file; it is only read.
    let source: String
    let server: StoreDescription.Server

    /// - Throws: `CommandFailure` or `StoreError`; the database has what it had before.
    func run() throws -> Outcome {
        guard let steps = description.postgres else {
            throw CommandFailure("\(description.service) keeps its store in a file alone", advice: "name the others, each by --service")
        }
        try requireUnused()
        let file = try SqliteMaintenance(file: source)
        defer { file.close() }
        try requireLevel(of: file)
        let damage = try file.damage(isDeep: false)
        guard damage.isEmpty else { throw CommandFailure("\(source) is damaged", advice: damage.joined(separator: "; ")) }
        let database = try PostgresMaintenance(server.options)
        let users = try database.users()
        guard users.isEmpty else {
            throw CommandFailure("\(database.place) is in use by \(users.joined(separator: ", "))", advice: "stop the services first")
        }
        try database.bringUpToDate(StoreDescription.migrations(steps))
        try database.run("BEGIN")
        do {
            let outcome = try copy(file, database)
            // A service that was started meanwhile may have changed the file.
            try requireUnused()
            try database.run("COMMIT")
            return outcome
        } catch {
            try? database.run("ROLLBACK")
            throw error
        }
    }

    private func requireUnused() throws {
        guard let pid = SqliteMaintenance.user(of: source) else { return }
        throw CommandFailure("\(source) is in use" + (pid > 0 ? " by process \(pid)" : ""), advice: "stop the services first")
    }

    private func requireLevel(of file: SqliteMaintenance) throws {
        let (found, known) = (Set(try file.steps()), Set(description.sqlite.map(\.name)))
        guard found.isSubset(of: known) else {
            throw CommandFailure("\(source) was written by a newer version of \(description.service)", advice: "use that version's programs")
        }
        guard found == known else {
            throw CommandFailure(
                "\(source) was written by an older version of \(description.service)",
                advice: "start this version on it once, which brings it up to date, stop it, and come again")
        }
    }

    private func copy(_ file: SqliteMaintenance, _ database: PostgresMaintenance) throws -> Outcome {
        let tables = try CopiedTable.all(file, database)
        let names = tables.map { PostgresMaintenance.quoted($0.name) }.joined(separator: ", ")
        if !tables.isEmpty { try database.run("LOCK TABLE \(names) IN EXCLUSIVE MODE") }
        if let there = try alreadyThere(tables) { return Outcome(tables: there, wasThere: true) }
        // The rows that a new schema has by itself are in the file too.
        for table in tables { try table.requireOwnRows() }
        for table in tables.reversed() { try table.removeRows() }
        var copied: [Table] = []
        for table in tables {
            let (sent, found) = (try table.copy(), try table.found())
            guard sent == found else {
                throw CommandFailure(
                    "\(database.place) keeps \(table.name) otherwise than it was sent: \(sent.rows) rows, \(sent.text), became \(found.rows), \(found.text)",
                    advice: "nothing was stored")
            }
            try database.advanceNumbers(of: table.name)
            copied.append(Table(name: table.name, digest: found))
        }
        return Outcome(tables: copied, wasThere: false)
    }

    /// The tables of a database that has exactly the file's rows.
    private func alreadyThere(_ tables: [CopiedTable]) throws -> [Table]? {
        guard try tables.contains(where: { try $0.hasRows }) else { return nil }
        var found: [Table] = []
        for table in tables {
            let digest = try table.found()
            guard try table.sent() == digest else { return nil }
            found.append(Table(name: table.name, digest: digest))
        }
        return found
    }
}
