import Faults
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
    case sqlite
    case postgres

    static var allCases: [Backend] { PostgresServer.isHere ? [.sqlite, .postgres] : [.sqlite] }

    var testDescription: String { rawValue }

    /// A fresh, empty store.
    func open() throws -> SqlAuthenticationStore {
        switch self {
        case .sqlite: return SqlAuthenticationStore(try Self.fresh())
        case .postgres: return SqlAuthenticationStore(try Self.server(PostgresServer.shared.options()))
        }
    }

    /// A file that has had all steps of the schema: a copy of it costs a fraction of the steps.
    private static let migrated = Result {
        let (first, copy) = (Folder.shared.newFile(), Folder.shared.newFile())
        let store = try database(first)
        try withExtendedLifetime(store) {
            let snapshot = try SqliteMaintenance(file: first)
            defer { snapshot.close() }
            try snapshot.copy(to: copy)
        }
        return copy
    }

    private static func fresh() throws -> Store {
        let file = Folder.shared.newFile()
        try FileManager.default.copyItem(atPath: try migrated.get(), toPath: file)
        return try database(file)
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
    private let path = Folder.parent.appendingPathComponent("boxoffice-authentication-\(UUID().uuidString)").path

    /// In memory, where there is room.
    private static var parent: URL {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let free = (try? FileManager.default.attributesOfFileSystem(forPath: memory.path))?[.systemFreeSize] as? Int ?? 0
        return free > 1 << 30 ? memory : FileManager.default.temporaryDirectory
    }

    func newFile() -> String { "\(path)/\(UUID().uuidString).sqlite" }

    private init() {
        atexit { try? FileManager.default.removeItem(atPath: Folder.shared.path) }
    }
}

extension SqlAuthenticationStore {
    /// The newest that a device has at a requestor.
    func session(_ key: SessionKey) async throws(Fault) -> SessionRecord? { try await sessions(key).first }
}
