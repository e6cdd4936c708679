import ArgumentParser
import AuthenticationAdministration
import AuthenticationCore
import Foundation
import PrivatePostgres
import Storage
import StoragePostgres
import StorageSqlite

/// Asks a SQLite file and a PostgreSQL server of its own in turns, and prints what each took.
struct EnginesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "engines", abstract: "Compare the engines, with the same sessions.")

    @Option(help: "A folder for both, which must not be there.")
    var folder: String

    @Option(help: "Sessions in each.")
    var sessions = 20_000

    @Option(help: "Seconds of each run.")
    var seconds = 2.0

    @Option(help: "Rounds.")
    var rounds = 5

    /// One of the two.
    private struct Engine {
        let name: String
        let store: Store
        /// Microseconds of CPU that its server has taken.
        let server: @Sendable () -> Double

        /// Without a cache, so that every read asks the engine.
        var probe: SessionProbe { SessionProbe(AuthenticationDatabase(store, cachedSessions: 2)) }
    }

    func run() async throws {
        guard !FileManager.default.fileExists(atPath: folder) else { throw BenchmarkFailure("\(folder) is there") }
        guard let programs = PrivatePostgres.installed else { throw BenchmarkFailure("PostgreSQL is not installed") }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let server = PrivatePostgres(folder: URL(fileURLWithPath: folder).appendingPathComponent("pg"), port: 5499, programs: programs)
        try server.make(settings: ["shared_buffers = 512MB"])
        let life = try server.endWithThisProcess()
        defer { close(life) }
        try server.start()
        let options = PostgresOptions(hosts: [.init(name: server.folder.path, port: 5499)], database: "postgres", user: "postgres")
        let engines = [
            Engine(
                name: "SQLite", store: try Store(file: folder + "/a.sqlite", name: "sqlite", migrations: AuthenticationDatabase.migrations),
                server: { 0 }),
            Engine(
                name: "PostgreSQL", store: try Store(postgres: options, name: "postgres", steps: AuthenticationDatabase.postgresSteps),
                server: { server.processorMicroseconds }),
        ]
        for engine in engines { try await fill(engine) }
        try server.run(sql: "ANALYZE")
        for _ in 0..<rounds {
            for (what, workers, isWriting) in [("look-up", 1, false), ("look-up", 64, false), ("session", 1, true), ("session", 64, true)] {
                for engine in engines { try await measure(engine, what, workers, isWriting) }
            }
        }
        for engine in engines { await engine.store.close() }
    }

    private func fill(_ engine: Engine) async throws {
        let probe = engine.probe
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        try await withThrowingTaskGroup { group in
            for worker in 0..<64 {
                group.addTask { [sessions] in
                    for number in stride(from: worker + 1, through: sessions, by: 64) {
                        try await probe.start(device: Population.device(number), requestor: Population.requestor, number: number, now: now)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func measure(_ engine: Engine, _ what: String, _ workers: Int, _ isWriting: Bool) async throws {
        let probe = engine.probe
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let before = engine.server()
        let times = try await Times.measure(seconds: seconds, workers: workers, bound: isWriting ? 1 << 40 : sessions) { number in
            if isWriting {
                try await probe.start(device: UUID().uuidString, requestor: Population.requestor, number: number, now: now)
            } else if try await probe.count(device: Population.device(number), requestor: Population.requestor) == 0 {
                throw BenchmarkFailure("device \(number) has no session")
            }
        }
        let server = (engine.server() - before) / (times.rate * seconds)
        print(
            "\(what), \(workers) at once, \(engine.name): \(Int(times.rate))/s, p50 \(Int(times.p50)) µs, p99 \(Int(times.p99)) µs, "
                + "client \(Self.text(times.cpu)) µs, server \(Self.text(server)) µs of CPU each")
    }

    private static func text(_ value: Double) -> String { String(format: "%.1f", value) }
}
