@testable import ClusterCommands
@testable import CommandKit
import Foundation
import PostgresServer
import ServiceKit
import Storage
import StoragePostgres
import StorageSqlite
import Testing

@Suite("Saving and restoring a store")
struct StoreBackupTests {
    /// Saves the store as a backup does.
    private static func save(_ description: StoreDescription, to folder: URL) throws -> BackupManifest.Store {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let saved = try StoreSaving(description: description, folder: folder).run()
        try BackupManifest(madeAt: "now", software: "1", stores: [saved]).write(to: folder)
        return saved
    }

    @Test("a file that is in use is saved whole, and comes back in the place of another one")
    func file() async throws {
        try await StoreSample.with { sample in
            let folder = sample.folder.appendingPathComponent("backup")
            let store = try Store(file: sample.file, name: "things", migrations: StoreSample.sqlite)
            try await store.write { try $0.run("INSERT INTO a_thing (owner, text) VALUES ('first', 'kept')") }
            let saved = try Self.save(sample.description(), to: folder)
            #expect(saved.tables == ["owner": 1, "a_thing": 1] && saved.steps.count == 2 && saved.least == 1)
            #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["things.sqlite", "backup.json", "SHA256SUMS"])
            try await store.write { try $0.run("INSERT INTO a_thing (owner, text) VALUES ('first', 'later')") }
            await store.close()

            let manifest = try BackupManifest.read(folder)
            func restoring(_ isForced: Bool, _ description: StoreDescription) -> StoreRestoring {
                StoreRestoring(description: description, saved: manifest.stores[0], folder: folder, isForced: isForced)
            }
            #expect(throws: CommandFailure.self) { try restoring(false, sample.description()).check() }
            #expect(throws: CommandFailure.self) { try restoring(true, sample.description(sqlite: [])).check() }
            let server = StoreDescription.Server(hosts: ["127.0.0.1:1"], database: "x", user: "x")
            #expect(throws: CommandFailure.self) { try restoring(true, sample.description(server)).check() }
            try restoring(true, sample.description()).check()
            try restoring(true, sample.description()).run()
            let again = try Store(file: sample.file, name: "things", migrations: StoreSample.sqlite)
            #expect(try await again.all("SELECT text FROM a_thing") { $0.next() as String } == ["kept"])
            await again.close()

            let handle = try FileHandle(forWritingTo: folder.appendingPathComponent("things.sqlite"))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data([0]))
            try handle.close()
            let damaged = #expect(throws: CommandFailure.self) { try BackupManifest.read(folder) }
            #expect(damaged?.description.contains("is damaged: things.sqlite") == true)
        }
    }

    @Test("a database likewise", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func database() async throws {
        try await StoreSample.with { sample in
            let folder = sample.folder.appendingPathComponent("backup")
            let description = sample.description(try sample.makeServer())
            let options = try #require(description.server?.options)
            let store = try Store(postgres: options, name: "things", steps: StoreSample.postgres)
            try await store.write { try $0.run("INSERT INTO a_thing (owner, text) VALUES ('first', ?)", ["kept\n\\."]) }
            let saved = try Self.save(description, to: folder)
            #expect(saved.tables["a_thing"] == 1 && saved.steps == ["1-tables"])
            try await store.write { try $0.run("INSERT INTO a_thing (owner, text) VALUES ('first', 'later')") }
            let restoring = StoreRestoring(description: description, saved: saved, folder: folder, isForced: true)
            let used = #expect(throws: CommandFailure.self) { try restoring.check() }
            #expect(used?.description.contains("is in use by boxoffice-things") == true)
            await store.close()
            var there = ""
            // The server may take a moment to see that its last client has left.
            for _ in 0..<3000 where there.isEmpty || there.contains("is in use") {
                do {
                    try StoreRestoring(description: description, saved: saved, folder: folder, isForced: false).check()
                    break
                } catch let failure as CommandFailure { there = failure.description }
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(there.contains("has a store already"))

            // A backup that cannot be read to its end leaves the present store.
            let copy = folder.appendingPathComponent(saved.file)
            let whole = try Data(contentsOf: copy)
            try whole.prefix(whole.count / 2).write(to: copy)
            #expect(throws: (any Error).self) { try restoring.run() }
            #expect(try PostgresMaintenance(options).count(of: "a_thing") == 2)

            try whole.write(to: copy)
            try restoring.check()
            try restoring.run()
            let again = try Store(postgres: options, name: "things", steps: StoreSample.postgres)
            #expect(try await again.all("SELECT text FROM a_thing") { $0.next() as String } == ["kept\n\\."])
            #expect(try await again.value("INSERT INTO a_thing (owner) VALUES ('first') RETURNING id") == 2)
            await again.close()
        }
    }
}
