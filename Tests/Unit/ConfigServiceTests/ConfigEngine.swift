import ConfigService
import Foundation
import PostgresServer
import Storage
import StoragePostgres
import StorageSqlite
import Testing

/// The engines that have to keep the service's rows; PostgreSQL only where it is installed, which `StateInventoryTests` says.
enum ConfigEngine: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres

    /// That of the test that runs.
    @TaskLocal static var current = sqlite
    static var here: [ConfigEngine] { PostgresServer.isHere ? allCases : [.sqlite] }

    var testDescription: String { rawValue }

    /// The store that belongs to a folder, which may be open already.
    func open(_ folder: String) throws -> Store {
        switch self {
        case .sqlite: return try Store(file: folder + "/config.sqlite", name: "config", migrations: CatalogueStore.migrations)
        case .postgres:
            let name = folder.unicodeScalars.suffix(36).filter { $0 != "-" }.map { Character($0) }
            let options = try PostgresServer.shared.options(schema: "config_\(String(name).lowercased())")
            return try Store(postgres: options, name: "config", steps: CatalogueStore.postgresSteps)
        }
    }
}

/// Runs each test of a suite with every engine in turn.
struct EachEngine: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        for engine in ConfigEngine.here {
            do {
                try await ConfigEngine.$current.withValue(engine) { try await function() }
            } catch {
                Issue.record("with \(engine): \(error)")
            }
        }
    }
}

extension Trait where Self == EachEngine {
    static var eachEngine: EachEngine { EachEngine() }
}
