import PostgresServer
import Storage
import Testing

@testable import AutoSignInService

/// Connections to the server break off at any moment, also between a commit and its answer.
@Suite(.engine(.postgres)) struct LostConnectionTests {
    @Test("what two copies promise holds whenever connections are lost, and no session is left behind", .needsServer)
    func lostConnections() async throws {
        // A server of its own: others' connections are not to break.
        let server = try PostgresServer()
        let rig = try TokenRig(familiesPerAccount: RaceWorld.familiesPerAccount, at: .server(server.options()))
        let world = try RaceWorld(rig, try rig.restarted(), isDisturbed: true)
        for seed in 0..<4 as Range<UInt64> { try await world.act(.optIn, at: 0, seed) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(Int.random(in: 50...400)))
                    try server.server.run(
                        sql: """
                            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < 0.5
                            """)
                }
            }
            for copy in 0..<2 {
                group.addTask {
                    var random = SystemRandomNumberGenerator()
                    let start = ContinuousClock.now
                    var done = 0
                    while done < 40 || ContinuousClock.now - start < .seconds(5) {
                        try #require(ContinuousClock.now - start < .seconds(120), "nothing comes through: \(done)")
                        if try await world.act(RaceAction.allCases.randomElement(using: &random)!, at: copy, random.next()) { done += 1 }
                        // While the store is away answers come at once.
                        try await Task.sleep(for: .milliseconds(2))
                    }
                }
            }
            // The first ends by itself only when it fails.
            for _ in 0..<2 { try await group.next() }
            group.cancelAll()
        }
        func asked<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
            try await untilItAnswers { try await rig.files.read(body) }
        }
        #expect(try await asked { try $0.brokenPromises(familiesPerAccount: RaceWorld.familiesPerAccount) } == [])
        try await untilItAnswers { try await world.settle() }
        let known = try await asked { Set(try $0.values("SELECT id FROM streaming_session") as [String]) }
        #expect(rig.logins.automaticSessions.subtracting(known) == [], "no session at authentication outlives the one here")
        #expect(try await asked { try $0.value("SELECT count(*) FROM outbox WHERE state = 0") as Int? } == 0)
    }

    /// A connection that was lost while nothing was to do says so to whoever has it next.
    private func untilItAnswers<Value>(_ work: () async throws -> Value) async throws -> Value {
        for _ in 0..<20 {
            if let value = try? await work() { return value }
            try await Task.sleep(for: .milliseconds(200))
        }
        return try await work()
    }
}
