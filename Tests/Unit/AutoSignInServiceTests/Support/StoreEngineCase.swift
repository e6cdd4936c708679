import AutoSignInService
import PostgresServer
import Storage
import StoragePostgres
import StorageSqlite
import Testing

/// The engines that have to keep the service's rows; PostgreSQL only where it is installed, which `PostgresCopiesTests` says.
enum StoreEngineCase: CaseIterable {
    case sqlite, postgres

    /// That of the test that runs.
    @TaskLocal static var current = StoreEngineCase.sqlite

    static var allCases: [StoreEngineCase] { PostgresServer.isHere ? [.sqlite, .postgres] : [.sqlite] }
}

/// Where copies of the service share their rows.
enum StorePlace: Sendable {
    case file(String)
    case server(PostgresOptions)

    /// A new one of the engine of the test that runs.
    init(in folder: TestFolder) throws {
        switch StoreEngineCase.current {
        case .sqlite: self = .file(folder.path + "/autosignin.sqlite")
        case .postgres: self = .server(try PostgresServer.shared.options())
        }
    }

    func open() throws -> Store {
        switch self {
        case .file(let path): try Store(file: path, name: "autosignin", migrations: AutoSignInStore.migrations)
        case .server(let options): try Store(postgres: options, name: "autosignin", steps: AutoSignInStore.postgresSteps)
        }
    }
}

/// Runs each test of a suite on each of the engines, one after the other.
struct OnEngines: SuiteTrait, TestTrait, TestScoping {
    let engines: [StoreEngineCase]
    let isRecursive = true

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        for engine in engines {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("on \(engine)")
                return issue
            }
            try await naming.provideScope(for: test, testCase: testCase) {
                try await StoreEngineCase.$current.withValue(engine) { try await function() }
            }
        }
    }
}

extension Trait where Self == OnEngines {
    static var everyEngine: OnEngines { OnEngines(engines: StoreEngineCase.allCases) }

    static func engine(_ engine: StoreEngineCase) -> OnEngines { OnEngines(engines: [engine]) }
}

extension Trait where Self == ConditionTrait {
    static var needsServer: ConditionTrait { .enabled(if: PostgresServer.isHere, PostgresServer.absence) }
}

extension Store {
    /// Lets each commit fail that adds a row to the table.
    func refuseInserts(into table: String) async throws {
        let refusal: Statement =
            switch StoreEngineCase.current {
            case .sqlite: Statement("CREATE TRIGGER broken BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'broken'); END")
            case .postgres: Statement("ALTER TABLE \(table) ADD CONSTRAINT broken CHECK (1 = 0) NOT VALID")
            }
        try await write { try $0.run(refusal) }
    }

    func acceptInserts(into table: String) async throws {
        let end = StoreEngineCase.current == .sqlite ? Statement("DROP TRIGGER broken") : Statement("ALTER TABLE \(table) DROP CONSTRAINT broken")
        try await write { try $0.run(end) }
    }
}
