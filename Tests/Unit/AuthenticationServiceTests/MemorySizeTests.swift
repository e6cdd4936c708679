import AuthenticationCore
import Foundation
import ServiceKit
import Storage
import StorageSqlite
import Testing

@Suite struct MemorySizeTests {
    @Test("operators see how full each memory of the store's rows is, and how much it holds")
    func tells() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "memory-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let numbers = PrometheusMetrics()
        let files = try Store(
            file: folder + "/authentication.sqlite", name: "authentication", migrations: AuthenticationDatabase.migrations, factory: numbers)
        let store = SqlAuthenticationStore(files, cachedSessions: 64)
        defer { withExtendedLifetime(store) {} }
        _ = try await files.size()
        let lines = numbers.text().split(separator: "\n")
        for (memory, most) in [
            ("sessions", 64), ("absent sessions", 64), ("clients", 16_384), ("codes", 64), ("bridged parts", 64), ("bridged logins", 64),
            ("ended logins", 64), ("logins", 64),
        ] {
            let labels = #"{cache="\#(memory)",store="authentication"}"#
            #expect(lines.contains("boxoffice_storage_cache_limit_entries\(labels) \(most).0"), "\(memory)")
            #expect(lines.contains("boxoffice_storage_cache_entries\(labels) 0.0"), "\(memory)")
        }
        await files.close()
    }
}
