import AuthorizationService
import PostgresServer
import Storage
import StoragePostgres
import StorageSqlite
import Testing

/// The engines that have to keep the service's rows; PostgreSQL only where it is installed, which `SharedServerTests` says.
enum StoreEngineCase: CaseIterable {
    case sqlite, postgres

    static var allCases: [StoreEngineCase] { PostgresServer.isHere ? [.sqlite, .postgres] : [.sqlite] }

    /// - Parameter folder: The folder of a file.
    func open(_ folder: String) throws -> Store {
        switch self {
        case .sqlite: try Store(file: folder + "/authorization.sqlite", name: "authorization", migrations: SqlAuthorizationStore.migrations)
        case .postgres: try Self.server(PostgresServer.shared.options())
        }
    }

    static func server(_ options: PostgresOptions) throws -> Store {
        try Store(postgres: options, name: "authorization", steps: SqlAuthorizationStore.postgresSteps)
    }
}
