@testable import BoxofficeMain
@testable import ClusterCommands
@testable import CommandKit
import Foundation
import PostgresServer
import ServiceKit
import Storage
import StoragePostgres
import Testing

@Suite("Preparing a server for stores", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct StorePrepareTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../..").standardizedFileURL

    @Test("each service gets a role, a database and its settings, once; files are the way back")
    func prepares() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("prepare-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let pki = LocalPki(folder: folder.appendingPathComponent("keys"))
        try FileManager.default.createDirectory(at: pki.folder, withIntermediateDirectories: true)
        try pki.ensureQuickly()
        let settings = folder.appendingPathComponent("settings")
        let writer = ContainerSettings(network: ContainerNetwork(), pki: pki, checkout: Self.checkout, folder: settings)
        try writer.write()
        let first = try #require(ClusterStore.services.first).rawValue
        func storage() throws -> [String: Any]? {
            let content = try Data(contentsOf: settings.appendingPathComponent("\(first)/config.json"))
            return (try JSONSerialization.jsonObject(with: content) as? [String: Any])?["storage"] as? [String: Any]
        }
        let server = try PostgresServer.shared.server
        let place = "\(server.folder.path):\(server.port)"
        let words = ["store", "prepare", "--server", place, "--settings", settings.path]
        func run(_ words: [String]) async throws {
            let command = try #require(try BoxofficeCommand.parseAsRoot(words) as? StorePrepareCommand)
            try await command.run()
        }
        try await run(words)
        let password = settings.appendingPathComponent("\(first)/pki/postgres-\(first).password")
        let secret = try String(contentsOf: password, encoding: .utf8)
        #expect(try FileManager.default.attributesOfItem(atPath: password.path)[.posixPermissions] as? Int == 0o600)
        #expect(try storage()?["hosts"] as? [String] == [place])
        #expect(try storage()?["passwordFile"] as? String == "pki/postgres-\(first).password")
        #expect(try writer.write().isEmpty, "where the store is, is no change of the settings")

        try await run(words)
        #expect(try String(contentsOf: password, encoding: .utf8) == secret)
        // Over the network the password counts.
        let reached = StoreDescription.Server(hosts: ["127.0.0.1:\(server.port)"], database: first, user: first, passwordFile: password.path)
        #expect(try PostgresMaintenance(reached.options).value("SHOW lock_timeout") == "10s")
        #expect(try server.run(sql: "SELECT pg_has_role('\(first)', 'pg_read_all_stats', 'member')") == "t")
        #expect(try server.run(sql: "SELECT rolconfig FROM pg_roles WHERE rolname = '\(first)'").contains("statement_timeout=5s"))
        try FileManager.default.removeItem(at: password)
        // Another host may have the present one.
        await #expect(throws: CommandFailure.self) { try await run(words) }
        try await run(words + ["--new-passwords"])
        #expect(try PostgresMaintenance(reached.options).value("SELECT 1") == "1")

        try await run(["store", "prepare", "--files", "--settings", settings.path])
        #expect(try storage() == nil)
        for service in ClusterStore.services {
            try server.run(sql: "DROP DATABASE \"\(service.rawValue)\" WITH (FORCE)")
            try server.run(sql: "DROP ROLE \"\(service.rawValue)\"")
        }
    }

    @Test("a server or files, and nothing else", arguments: [[], ["--files", "--server", "a:1"], ["--server", "a"]])
    func refused(options: [String]) {
        #expect(throws: (any Error).self) { try StorePrepareCommand.parse(["--settings", "x"] + options) }
    }
}
