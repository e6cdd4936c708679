import ArgumentParser
import AuthenticationAdministration
import AuthenticationCore
import Foundation
import PrivatePostgres
import Storage
import StoragePostgres

/// Fills two databases of a PostgreSQL server of its own, a small and a large one, asks them in turns and prints what each took.
struct GrowthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "growth", abstract: "Compare a small and a large store in PostgreSQL.",
        discussion: "Ten million sessions need some 10 GB of disk and some minutes to be made.")

    @Option(help: "A folder for the server, which must not be there.")
    var folder: String

    @Option(help: "Sessions in the small one.")
    var small = 10_000

    @Option(help: "Sessions in the large one.")
    var large = 10_000_000

    @Option(help: "Seconds of each run.")
    var seconds = 2.0

    @Option(help: "Rounds.")
    var rounds = 5

    private static let port: UInt16 = 5498

    func validate() throws {
        for sessions in [small, large] { try Population.check(sessions: sessions, perDevice: 1) }
    }

    func run() async throws {
        guard !FileManager.default.fileExists(atPath: folder) else { throw BenchmarkFailure("\(folder) is there") }
        guard let programs = PrivatePostgres.installed else { throw BenchmarkFailure("PostgreSQL is not installed") }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let server = PrivatePostgres(folder: URL(fileURLWithPath: folder).appendingPathComponent("pg"), port: Int(Self.port), programs: programs)
        try server.make(settings: ["shared_buffers = 2GB", "max_wal_size = 8GB", "maintenance_work_mem = 1GB", "autovacuum = off"])
        let life = try server.endWithThisProcess()
        defer { close(life) }
        try server.start()
        var stores: [(name: String, sessions: Int, store: Store)] = []
        for (name, sessions) in [("small", small), ("large", large)] {
            try server.run(sql: "CREATE DATABASE \(name)")
            let options = PostgresOptions(hosts: [.init(name: server.folder.path, port: Self.port)], database: name, user: "postgres")
            let store = try Store(postgres: options, name: name, steps: AuthenticationDatabase.postgresSteps)
            let start = ContinuousClock.now
            try await fill(store, server, database: name, sessions: sessions)
            let bytes = try server.run(sql: "SELECT pg_database_size('\(name)')")
            print("\(name): \(sessions) sessions, \(bytes) bytes, made in \(Int((ContinuousClock.now - start) / .seconds(1))) s")
            stores.append((name, sessions, store))
        }
        for _ in 0..<rounds {
            for (workers, isWriting) in [(1, false), (64, false), (64, true)] {
                for (name, sessions, store) in stores { try await measure(name, sessions, store, server, workers, isWriting) }
            }
        }
        for (_, _, store) in stores { await store.close() }
    }

    /// The first row comes from the service's own code, the others are copies of it under ids of their own.
    private func fill(_ store: Store, _ server: PrivatePostgres, database: String, sessions: Int) async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        try await SessionProbe(AuthenticationDatabase(store, cachedSessions: 2)).start(
            device: Population.pattern, requestor: Population.requestor, number: 0, now: now)
        let columns = try server.run(
            sql: "SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'session'",
            database: database
        ).split(separator: ",").map(String.init)
        let own = [
            "device_id": Self.device, "id": "format('session-%s-%s', \(Self.hex("(n * 2246822519) & 4294967295", 8)), \(Self.hex("n", 12)))",
            "user_id": "\(Self.hex("(n * 3266489917) & 4294967295", 8)) || \(Self.hex("n", 56))",
            "client_id": "'client-' || \(Self.hex("(n * 668265263) & 4294967295", 8))",
            "upstream_user_id": "format('person-%s@north-cable.example', n)", "name_id": "format('person-%s@north-cable.example', n)",
            "session_index": "format('_index-%s', n)",
            // Spread over the 30 days that a session lasts.
            "expires_at_ms": "expires_at_ms + (n * 2654435761) % 2592000000",
        ]
        let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        let values = columns.map { own[$0] ?? "\"\($0)\"" }.joined(separator: ", ")
        try server.run(
            sql: """
                INSERT INTO session (\(list)) SELECT \(values) FROM generate_series(1, CAST(\(sessions) AS BIGINT)) AS n CROSS JOIN session
                    WHERE device_id = '\(Population.pattern)';
                DELETE FROM session WHERE device_id = '\(Population.pattern)';
                """, database: database)
        for sql in ["VACUUM ANALYZE session", "CHECKPOINT"] { try server.run(sql: sql, database: database) }
    }

    private static func hex(_ number: String, _ digits: Int) -> String { "lpad(to_hex(\(number)), \(digits), '0')" }

    /// `Population.device` in PostgreSQL's words.
    private static let device =
        "format('%s-%s-4000-8000-%s', \(hex("(n * 2654435761) & 4294967295", 8)), \(hex("(n * 40503) & 65535", 4)), \(hex("n", 12)))"

    private func measure(
        _ name: String, _ sessions: Int, _ store: Store, _ server: PrivatePostgres, _ workers: Int, _ isWriting: Bool
    ) async throws {
        let probe = SessionProbe(AuthenticationDatabase(store, cachedSessions: 2))
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let before = server.processorMicroseconds
        let times = try await Times.measure(seconds: seconds, workers: workers, bound: isWriting ? 1 << 40 : sessions) { number in
            if isWriting {
                try await probe.start(device: UUID().uuidString, requestor: Population.requestor, number: number, now: now)
            } else if try await probe.count(device: Population.device(number), requestor: Population.requestor) == 0 {
                throw BenchmarkFailure("device \(number) has no session")
            }
        }
        let taken = (server.processorMicroseconds - before) / (times.rate * seconds)
        print(
            "\(isWriting ? "session" : "look-up"), \(workers) at once, \(name): \(Int(times.rate))/s, p50 \(Int(times.p50)) µs, "
                + "p99 \(Int(times.p99)) µs, client \(String(format: "%.1f", times.cpu)) µs, server \(String(format: "%.1f", taken)) µs of CPU each")
    }
}
