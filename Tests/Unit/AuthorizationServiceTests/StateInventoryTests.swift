import AuthorizationService
import Doubles
import Foundation
import Storage
import StorageSqlite
import Testing

@Suite struct StateInventoryTests {
    @Test("Shared/Documents/State.md has every table of the store, and no other")
    func isComplete() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try Store(file: folder + "/authorization.sqlite", name: "authorization", migrations: SqlAuthorizationStore.migrations)
        let tables = try await store.read {
            try Set($0.values("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") as [String])
        }
        #expect(try StateInventory.tables(of: "authorization").symmetricDifference(tables).sorted() == [])
        await store.close()
    }
}
