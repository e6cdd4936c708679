import Clocks
import Contracts
import Doubles
import Faults
import PostgresServer
import SamlExplanation
import SamlProfile
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Copies of the service on several hosts, which keep their state in one server and hear nothing of each other.
@Suite struct PostgresCopiesTests {
    @Test("both engines have the same tables, but for what copies on several hosts tell each other")
    func tables() async throws {
        let found = try await EngineSchemas.differences(sqlite: AuthenticationDatabase.migrations, postgres: AuthenticationDatabase.postgresSteps)
        #expect(
            found == [
                "+ epoch.name TEXT NOT NULL", "+ epoch.value BIGINT NOT NULL", "+ sign_in_report.content BYTEA NOT NULL",
                "+ sign_in_report.ended_at_ms BIGINT NOT NULL", "+ sign_in_report.mvpd TEXT NOT NULL", "+ sign_in_report.trace TEXT NOT NULL",
            ])
    }

    @Test(
        "new stores on a server, and those of the first release, get the schema of kept ones",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func keptSchema() async throws {
        #expect(try await KeptSchemas.differences(of: "authentication", steps: AuthenticationDatabase.postgresSteps) == [])
    }

    private static func withTwo(_ body: (SqlAuthenticationStore, SqlAuthenticationStore) async throws -> Void) async throws {
        let options = try PostgresServer.shared.options()
        let stores = [try Backend.server(options), try Backend.server(options)]
        try await body(SqlAuthenticationStore(stores[0]), SqlAuthenticationStore(stores[1]))
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

    @Test("a sign-in that failed at one copy is explained by each", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func reports() async throws {
        try await Self.withTwo { one, other in
            let (here, there) = (SignInReports(capacity: 2, strays: 2, store: one), SignInReports(store: other))
            func add(_ number: Int, mvpd: String, _ result: SignInResult = .rejected) {
                let explanation = ResponseExplanation(SamlRejection(.unknownState, "no"), at: .pendingRequest, hint: "")
                here.add(
                    SignInRecord(
                        trace: "\(number)", endedAt: t0 + .seconds(number), mvpd: mvpd, result: result, reason: "state.unknown",
                        explanation: explanation))
            }
            for number in 1...4 { add(number, mvpd: "DemoCable") }
            for number in 5...8 { add(number, mvpd: "") }
            add(9, mvpd: "DemoCable", .signedIn)
            await #expect(throws: Fault.self) { try await there.report(.init(traceID: "1")) }
            try await here.share(mustTrim: false)
            try await here.share(mustTrim: false)
            #expect(try await there.list(.init()).reports.map(\.traceID) == ["8", "7", "6", "5", "4", "3", "2", "1"])
            #expect(try await here.list(.init()).reports.map(\.traceID) == ["9", "8", "7", "6", "5", "4", "3", "2", "1"])
            #expect(try await there.list(.init(mvpd: "DemoCable", failedOnly: true, limit: 3)).reports.map(\.traceID) == ["4", "3", "2"])
            let whole = try await there.report(.init(traceID: "1"))
            #expect(whole.mvpd == "DemoCable" && !whole.checks.isEmpty)
            try await other.trimStrays(to: 2)
            #expect(try await there.list(.init()).reports.map(\.traceID) == ["8", "7", "4", "3", "2", "1"])
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
