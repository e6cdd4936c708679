import Foundation
import PostgresServer
import Storage
import StoragePostgres
import StorageSqlite
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The backends that have to keep the stores' contract; PostgreSQL only where it is installed, which `PostgresCopiesTests` says.
enum Backend: String, CaseIterable, CustomTestStringConvertible {
    case memory
    case sqlite
    case postgres

    static var allCases: [Backend] { PostgresServer.isHere ? [.memory, .sqlite, .postgres] : [.memory, .sqlite] }

    var testDescription: String { rawValue }

    /// A fresh, empty store.
    func open() throws -> any AuthenticationStore {
        switch self {
        case .memory: return InMemoryStore()
        case .sqlite: return SqlAuthenticationStore(try Self.database(Folder.shared.newFile()))
        case .postgres: return SqlAuthenticationStore(try Self.server(PostgresServer.shared.options()))
        }
    }

    static func server(_ options: PostgresOptions) throws -> Store {
        try Store(postgres: options, name: "authentication", steps: AuthenticationDatabase.postgresSteps)
    }

    static func database(_ file: String) throws -> Store {
        try Store(file: file, name: "authentication", migrations: AuthenticationDatabase.migrations)
    }
}

/// A folder for the stores of this run; it goes when the run ends.
final class Folder: Sendable {
    static let shared = Folder()
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-authentication-\(UUID().uuidString)").path

    func newFile() -> String { "\(path)/\(UUID().uuidString).sqlite" }

    private init() {
        atexit { try? FileManager.default.removeItem(atPath: Folder.shared.path) }
    }
}
