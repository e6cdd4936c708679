import Faults
import Foundation
import PostgresServer
import Storage
import StoragePostgres
import Testing

extension InTimeTests {
    /// A connection is lost between a commit and its answer.
    @Suite("Commits in doubt", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    struct DoubtTests {
        /// The store's processes that wait for a standby or for a lock, its own heartbeats aside.
        private static func waiting(_ server: PostgresServer, _ event: String) async throws -> String {
            try await server.asks(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'boxoffice-test' AND (wait_event = '\(event)' OR wait_event_type = '\(event)')"
            )
        }

        @Test("what was committed is told as such, by each way, and is there once", .timeLimit(.minutes(2)), arguments: 0..<3)
        func stored(way: Int) async throws {
            let server = try await HeartbeatTests.server()
            let store = try await server.notes()
            // On a machine that is busy with other tests the copy may leave its server first.
            var isResolved = false
            for _ in 0..<5 where !isResolved { isResolved = try await Self.losesAnswer(of: way, store, server) }
            #expect(isResolved)
            try await eventually("it answers") { (try? await store.texts()) == ["kept"] }
            await store.close()
        }

        /// Makes a change whose commit waits for a standby, ends its connection, and lets the standby come.
        /// - Returns: False when the store refused the change.
        private static func losesAnswer(of way: Int, _ store: Store, _ server: PostgresServer) async throws -> Bool {
            try await server.loseStandbys()
            let call = Task { () -> Int in
                switch way {
                case 0: return try await store.change("INSERT INTO note (text) VALUES ('kept')")
                case 1:
                    let rows = try await store.commit { () throws(Fault) in
                        var plan = Plan(for: "note")
                        plan.add("INSERT INTO note (text) VALUES ('kept') RETURNING count + 1", rows: 1)
                        return plan
                    }
                    return try rows?.last?.first { $0.next() } ?? 0
                default: return try await store.write { try $0.run("INSERT INTO note (text) VALUES ('kept')") }
                }
            }
            var pid = ""
            for _ in 0..<100 where pid.isEmpty && store.trouble == nil { pid = try await Self.waiting(server, "SyncRep") }
            if !pid.isEmpty { try await server.asks("SELECT pg_terminate_backend(\(pid))") }
            try await server.findStandbys()
            do {
                let count = try await call.value
                #expect(count == 1)
                return true
            } catch {
                try await eventually("it is back") { store.trouble == nil }
                try await store.change("DELETE FROM note")
                return false
            }
        }

        @Test("what was not committed goes once more", .timeLimit(.minutes(2)), arguments: [true, false])
        func notStored(isPlan: Bool) async throws {
            let server = try await offThread { try PostgresServer() }
            let store = try await server.notes()
            try await store.add("counter")
            let lock = Task {
                try await store.write { database in
                    try database.run("UPDATE note SET count = count + 1 WHERE text = 'counter'")
                    _ = try database.first("SELECT CAST(pg_sleep(2.5) AS TEXT)") { $0.next() as String }
                }
            }
            try await eventually("the row is locked") { try await !Self.waiting(server, "Timeout").isEmpty }
            let call = Task { () -> Int in
                let update: Statement = "UPDATE note SET count = count + 10 WHERE text = 'counter'"
                return isPlan ? try await store.change(update) : try await store.write { try $0.run(update) }
            }
            var pid = ""
            try await eventually("it waits for the lock") {
                pid = try await Self.waiting(server, "Lock")
                return !pid.isEmpty
            }
            try await server.asks("SELECT pg_terminate_backend(\(pid))")
            if isPlan {
                #expect(try await call.value == 1)
            } else {
                // Its end was not under way: nothing is in doubt.
                let fault = await #expect(throws: Fault.self) { try await call.value }
                #expect(fault?.code == .unavailable)
            }
            try await lock.value
            try await eventually("it is counted") { (try? await store.value("SELECT count FROM note")) == (isPlan ? 11 : 1) }
            await store.close()
        }

        @Test("a call that nobody waits for any more is not sent", .timeLimit(.minutes(1)))
        func notAwaited() async throws {
            let server = try await offThread { try PostgresServer() }
            let store = try await server.notes()
            try await store.add("counter")
            let lock = Task {
                try await store.write { database in
                    try database.run("UPDATE note SET count = count + 1 WHERE text = 'counter'")
                    _ = try database.first("SELECT CAST(pg_sleep(2.5) AS TEXT)") { $0.next() as String }
                }
            }
            try await eventually("the row is locked") { try await !Self.waiting(server, "Timeout").isEmpty }
            // The worker waits for the lock, and the next one for the worker.
            let first = Task { try await store.change("UPDATE note SET count = count + 10 WHERE text = 'counter'") }
            try await eventually("it waits for the lock") { try await !Self.waiting(server, "Lock").isEmpty }
            let second = Task { try await store.change("UPDATE note SET count = count + 100 WHERE text = 'counter'") }
            try await eventually("it waits for the lane") { store.waitingWrites == 1 }
            second.cancel()
            try await lock.value
            #expect(try await first.value == 1)
            let fault = await #expect(throws: Fault.self) { try await second.value }
            #expect(fault?.code == .deadlineExceeded)
            #expect(try await store.value("SELECT count FROM note") == 11)
            await store.close()
        }
    }
}
