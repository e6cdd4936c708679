import Clocks
import Doubles
import Faults
import PostgresServer
import Storage
import Testing

@testable import AuthenticationService

/// Copies of the service on several hosts, which keep their state in one server and hear nothing of each other.
@Suite struct PostgresCopiesTests {
    @Test("both engines have the same tables, but for the count that copies poll")
    func tables() async throws {
        let found = try await EngineSchemas.differences(sqlite: AuthenticationDatabase.migrations, postgres: AuthenticationDatabase.postgresSteps)
        #expect(found == ["+ epoch.name TEXT NOT NULL", "+ epoch.value BIGINT NOT NULL"])
    }

    private static func withTwo(_ body: (SqliteAuthenticationStore, SqliteAuthenticationStore) async throws -> Void) async throws {
        let options = try PostgresServer.shared.options()
        let stores = [try Backend.server(options), try Backend.server(options)]
        try await body(SqliteAuthenticationStore(stores[0]), SqliteAuthenticationStore(stores[1]))
        for store in stores { await store.close() }
    }

    @Test("a session shows at every copy at once, and no more after its logout", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func sessions() async throws {
        try await Self.withTwo { one, other in
            let session = Sample.session(record: nil)
            for round in 0..<20 {
                #expect(try await other.sessions(session.key).isEmpty, "round \(round)")
                #expect(try await one.start(session, now: session.createdAt))
                #expect(try await other.sessions(session.key) == [session], "round \(round)")
                let ended = try await other.end(
                    device: session.key.device, requestors: [session.key.requestor], claims: session.claims, now: session.createdAt)
                #expect(ended == [session])
                #expect(try await one.sessions(session.key).isEmpty, "round \(round)")
            }
        }
    }

    @Test(
        "sign-ins through two copies at once all come through, each once, though all of them meet in small tables",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func crowd() async throws {
        try await Self.withTwo { one, other in
            let completed = try await withThrowingTaskGroup { group in
                for number in 0..<48 {
                    let (here, there) = number % 2 == 0 ? (one, other) : (other, one)
                    group.addTask {
                        let record = Sample.record(
                            "CODE\(number)", id: "record-\(number)", device: "device-\(number)", client: "client-\(number % 3)")
                        guard try await here.claim(record, now: t0) else { return 0 }
                        let pending = Sample.pending("_request-\(number)", relay: "relay-\(number)", record: record)
                        guard try await there.begin(pending, now: t0) else { return 0 }
                        let session = Sample.session(
                            "session-\(number)", client: "client-\(number % 3)", device: "device-\(number)", record: "record-\(number)")
                        let completion = Sample.completion(
                            "_request-\(number)", assertion: "_assertion-\(number)", session: session, record: "record-\(number)")
                        // Both copies get the MVPD's answer at once.
                        async let first = here.complete(completion, now: t0)
                        async let second = there.complete(completion, now: t0)
                        let results = [try await first, try await second]
                        guard try await here.sessions(session.key) == [session] else { return 0 }
                        return results.count { $0 == .completed }
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(completed == [Int](repeating: 1, count: 48))
        }
    }

    @Test("when a revocation returns no copy knows the client", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func revocation() async throws {
        try await Self.withTwo { one, other in
            let client = Sample.client()
            try await one.add(client)
            for _ in 0..<3 { #expect(try await other.client(client.id) == client) }
            // Memory answers, as long as the count is heard.
            let generation = try #require(other.changes).generation
            let end = ContinuousClock.now + .seconds(20)
            while other.changes?.generation != other.changes?.generation, ContinuousClock.now < end { await Task.yield() }
            #expect(try await one.revoke(client.id))
            #expect(try #require(other.changes).generation != generation)
            #expect(try await other.client(client.id) == nil)
            #expect(try await !one.revoke(client.id))
        }
    }
}
