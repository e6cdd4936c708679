internal import CommandKit
internal import Foundation
internal import ServiceKit
internal import StoragePostgres
internal import StorageSqlite

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
