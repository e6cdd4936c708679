import AutoSignInService
import Faults
import Foundation
import Logging
import Storage
import StorageSqlite
import Testing

@Suite("Store of Automatic Sign-In")
struct AutoSignInStoreTests {
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-autosignin-\(UUID().uuidString)").path
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func store() throws -> Store {
            try Store(file: path + "/autosignin.sqlite", name: "autosignin", migrations: AutoSignInStore.migrations)
        }
    }

    @Test("a new file names its owner, also after a restart")
    func verifiesOwnFile() async throws {
        let folder = Folder()
        let first = try folder.store()
        try await AutoSignInStore(first).verify()
        await first.close()
        try await AutoSignInStore(try folder.store()).verify()
    }

    @Test("a file of another service is refused by name")
    func refusesForeignFile() async throws {
        let folder = Folder()
        let store = try folder.store()
        try await store.write { try $0.run("UPDATE store_metadata SET value = 'other' WHERE name = 'owner'") }
        let fault = await #expect(throws: Fault.self) { try await AutoSignInStore(store).verify() }
        #expect(fault?.message.contains("autosignin.sqlite") == true)
        #expect(fault?.message.contains("other") == true)
    }

    @Test("readiness follows the store")
    func readinessFollowsStore() async throws {
        let folder = Folder()
        let store = try folder.store()
        let watch = StoreWatch(store: AutoSignInStore(store), logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        #expect(watch.lacking != nil)
        await watch.look()
        #expect(watch.lacking == nil)
        await store.close()
        await watch.look()
        #expect(watch.lacking != nil)
    }
}
