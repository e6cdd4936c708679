import Clocks
import Contracts
import Cryptography
import Doubles
import Faults
import Foundation
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
        "after a failover a used code, an assertion and a signed nonce serve nobody a second time, and a session that was ended is not back",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence), .timeLimit(.minutes(2)))
    func spentStaysSpent() async throws {
        let servers = try await blocking { try ReplicatedServer() }
        defer { servers.end() }
        let options = servers.options()
        let one = SqlAuthenticationStore(try await blocking { try Backend.server(options) })
        let nonces = (0..<3).map { SHA256.hash(Array("nonce-\($0)".utf8)) }
        let end = t0 + .seconds(3600)
        #expect(try await one.claim(Sample.record(), now: t0))
        #expect(try await one.begin(Sample.pending(), now: t0))
        #expect(try await one.complete(Sample.completion(), now: t0) == .completed)
        for nonce in nonces { #expect(try await one.takeNonce(nonce, until: end)) }
        let ended = Sample.session("session-2", device: "dev-2", record: nil)
        #expect(try await one.start(ended, now: t0))
        #expect(try await one.end(device: ended.key.device, requestors: [ended.key.requestor], claims: ended.claims, now: t0) == [ended])
        // Two other people are at their MVPD, each by a code of their own. A replay at each copy costs one of these sign-ins.
        let others = [Sample.record("AAAAAAA", id: "record-3", device: "dev-3"), Sample.record("BBBBBBB", id: "record-4", device: "dev-4")]
        for other in others {
            #expect(try await one.claim(other, now: t0))
            #expect(try await one.begin(Sample.pending("_request of \(other.id.text)", relay: "relay of \(other.id.text)", record: other), now: t0))
        }

        try await blocking { try servers.failOver() }
        let two = SqlAuthenticationStore(try await blocking { try Backend.server(options) })
        for (store, other) in zip([one, two], others) {
            try await Self.eventually { try await store.session(Sample.session().key) == Sample.session() }
            #expect(try await store.liveRecord(RegistrationCodeText(typed: "QK7M2XD"), now: t0)?.isUsed == true)
            #expect(try await !store.begin(Sample.pending("_request-2", relay: "relay-2"), now: t0), "the code is used")
            #expect(try await store.complete(Sample.completion(), now: t0) == .notPending)
            for nonce in nonces { #expect(try await !store.takeNonce(nonce, until: end), "a nonce serves once") }
            #expect(try await store.sessions(ended.key).isEmpty)
            let stolen = Sample.session("session of \(other.id.text)", device: other.deviceID.text, record: other.id.text)
            let replay = Sample.completion("_request of \(other.id.text)", session: stolen, record: other.id.text)
            #expect(try await store.complete(replay, now: t0) == .replayed)
            #expect(try await store.sessions(stolen.key).isEmpty)
        }
        await one.store.close()
        await two.store.close()
    }

    private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Until the store has found the new primary.
    private static func eventually(_ isMet: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while (try? await isMet()) != true {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(20))
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
