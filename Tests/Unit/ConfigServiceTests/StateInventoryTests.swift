import CatalogueSamples
@testable import ConfigService
import Doubles
import Faults
import Foundation
import PostgresServer
import Storage
import StoragePostgres
import StorageSqlite
import Testing

@Suite struct StateInventoryTests {
    @Test("Shared/Documents/State.md has every table of the store, and no other")
    func isComplete() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try Store(file: folder + "/config.sqlite", name: "config", migrations: CatalogueStore.migrations)
        let tables = try await store.read {
            try Set($0.values("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") as [String])
        }
        #expect(try StateInventory.tables(of: "config").symmetricDifference(tables).sorted() == [])
        await store.close()
    }

    @Test("both engines have the same tables")
    func engines() async throws {
        // The triggers are each engine's own.
        let steps = CatalogueStore.postgresSteps.filter { !$0.name.hasSuffix("-stays") }
        #expect(try await EngineSchemas.differences(sqlite: CatalogueStore.migrations, postgres: steps) == [])
    }

    @Test(
        "new stores on a server, and those of the first release, get the schema of kept ones",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func keptSchema() async throws {
        #expect(try await KeptSchemas.differences(of: "config", steps: CatalogueStore.postgresSteps) == [])
    }

    @Test("the tests of this module run with both engines", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func runsWithPostgres() { #expect(ConfigEngine.here == ConfigEngine.allCases) }

    @Test(
        "a role that owns nothing and may not change the history is enough, as the guide has it",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func runtimeRole() async throws {
        let server = try PostgresServer.shared
        var options = server.options()
        let schema = try #require(options.schema)
        let owner = try Store(postgres: options, name: "config", steps: CatalogueStore.postgresSteps)
        await owner.close()
        options.user = "\(schema)_config"
        try server.server.run(
            sql: """
                CREATE ROLE \(options.user) LOGIN; GRANT CREATE ON DATABASE postgres TO \(options.user); GRANT USAGE ON SCHEMA \(schema) TO \(options.user);
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(options.user);
                REVOKE UPDATE, DELETE ON \(schema).version, \(schema).audit, \(schema).document FROM \(options.user)
                """)
        let store = try Store(postgres: options, name: "config", steps: CatalogueStore.postgresSteps)
        let world = try CatalogueFolder()
        let watcher = world.watcher(store)
        let published = PublishedCatalogue(try await watcher.load())
        try world.replace(#""name": "News", "#, with: #""name": "Evening News", "#)
        await watcher.reload(into: published)
        #expect(published.configuration.requestors.first?.name == "Evening News")
        for table in ["version", "audit", "document"] {
            await #expect(throws: Fault.self) { try await store.write { try $0.run(.init("DELETE FROM \(table)")) } }
            await #expect(throws: Fault.self) { try await store.write { try $0.run(.init("ALTER TABLE \(table) DISABLE TRIGGER USER")) } }
        }
        #expect(try await CatalogueStore(store).read(now: world.clock.now()) { try $0.verdict(readingDocuments: true) }.versions == 2)
        await store.close()
    }
}
