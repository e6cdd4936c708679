internal import CommandKit
internal import ServiceKit
internal import Storage
internal import StoragePostgres
internal import StorageSqlite

/// Copies a service's file into its database: all of it in one transaction, or nothing.
struct StoreMigration {
    struct Table: Equatable {
        let name: String
        let digest: RowsDigest
    }

    /// What became of a store.
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
            // Whoever started the service meanwhile may have changed the file.
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
        // What a new schema has by itself is in the file too.
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

    /// Of a database that has exactly what the file has.
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
