import ConfigService
import Doubles
import Foundation
import PostgresServer
import Storage
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
        let steps = CatalogueStore.postgresSteps.filter { $0.name != "2-history-stays" }
        #expect(try await EngineSchemas.differences(sqlite: CatalogueStore.migrations, postgres: steps) == [])
    }

    @Test("the tests of this module run with both engines", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func runsWithPostgres() { #expect(ConfigEngine.here == ConfigEngine.allCases) }
}
