internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import ServiceKit

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
