import Clocks
import CoreMetrics
import Faults
import Foundation
import Identifiers
import Logging
import ServiceKit
import Storage
import StorageSqlite
import Testing

@testable import AutoSignInService

@Suite("Store of Automatic Sign-In")
struct AutoSignInStoreTests {
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-autosignin-\(UUID().uuidString)").path
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func store(factory: any MetricsFactory = NOOPMetricsHandler.instance) throws -> Store {
            try Store(file: path + "/autosignin.sqlite", name: "autosignin", migrations: AutoSignInStore.migrations, factory: factory)
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

    @Test("operators see how full each of the caches is")
    func tellsOfItsCaches() async throws {
        let (folder, numbers) = (Folder(), PrometheusMetrics())
        let files = try folder.store(factory: numbers)
        let store = AutoSignInStore(files, cached: 64)
        defer { withExtendedLifetime(store) {} }
        func told(_ metric: String) async throws -> [String: Double] {
            _ = try await files.size()
            let prefix = "boxoffice_storage_cache_\(metric){cache=\""
            return numbers.text().split(separator: "\n").reduce(into: [:]) { values, line in
                guard line.hasPrefix(prefix) else { return }
                values[String(line.dropFirst(prefix.count).prefix { $0 != "\"" })] = line.split(separator: " ").last.flatMap { Double($0) }
            }
        }
        #expect(try await told("limit_entries") == ["accounts": 64, "families": 64, "sessions": 64, "versions": 64])
        #expect(try await told("entries") == ["accounts": 0, "families": 0, "sessions": 0, "versions": 0])
        let account = AccountRecord(id: AccountID("a"), programmer: ProgrammerID("acme"), createdAt: Timestamp(seconds: 0))
        store.accounts.replace(account.id, with: account)
        #expect(try await told("entries") == ["accounts": 1, "families": 0, "sessions": 0, "versions": 0])
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
