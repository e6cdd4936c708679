import Faults
import Foundation
import PostgresServer
import Storage
import StoragePostgres
import Testing

extension InTimeTests {
    /// Copies notice that their server may not be the one any more: it answers, and commits nothing.
    @Suite("Heartbeats", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    struct HeartbeatTests {
        /// A server that waits for standbys that are not there.
        static func server() async throws -> PostgresServer {
            try await offThread { try PostgresServer(settings: ["wal_level = replica", "max_wal_senders = 4"]) }
        }

        @Test(
            "a server that lost its standbys is left within three seconds, and nothing is read there any more; when they are back so is the store",
            .timeLimit(.minutes(2)))
        func alone() async throws {
            let server = try await Self.server()
            let store = try await server.notes()
            try await store.add("before")
            #expect(store.trouble == nil && store.warning == nil)
            try await server.loseStandbys()
            let lost = ContinuousClock.now
            try await eventually("it is noticed") { store.trouble != nil }
            #expect(lost.duration(to: .now) < .seconds(4.5))
            try await eventually("it says what commits wait for") {
                store.trouble?.contains("its commits wait for a standby: none of 'absent' confirms them") == true
            }
            for call in [
                { _ = try await store.texts() }, { try await store.add("x") }, { _ = try await store.read { try $0.hasRow("SELECT 1") } },
                { _ = try await store.write { try $0.hasRow("SELECT 1") } },
            ] as [@Sendable () async throws -> Void] {
                let start = ContinuousClock.now
                let fault = await #expect(throws: Fault.self) { try await call() }
                #expect(fault?.code == .unavailable && start.duration(to: .now) < .seconds(1))
            }
            try await server.findStandbys()
            try await eventually("it is back") { store.trouble == nil }
            try await eventually("it writes") { (try? await store.add("after")) != nil }
            #expect(try await store.texts() == ["after", "before"])
            // No heartbeat that waited for them hangs in the server.
            try await eventually("none hangs") {
                try await server.asks("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'boxoffice-test-heart%'") == "1"
            }
            await store.close()
        }

        @Test(
            "when another server takes its place, copies go there though the old one still answers, and read nothing older than three seconds",
            .timeLimit(.minutes(2)))
        func replaced() async throws {
            let (old, new) = (try await Self.server(), try await Self.server())
            var options = old.options()
            let there = new.options(schema: options.schema)
            let first = try await offThread { try Store.notes(there) }
            try await first.add("new")
            await first.close()
            try await new.sets("SET default_transaction_read_only = on")
            options.hosts += there.hosts
            let store = try await offThread { [options] in try Store.notes(options) }
            try await store.add("old")
            try await old.loseStandbys()
            let lost = ContinuousClock.now
            try await new.sets("RESET default_transaction_read_only")
            var last: Duration = .zero
            try await eventually("it is there") {
                guard let texts = try? await store.texts() else { return false }
                if texts == ["old"] { last = lost.duration(to: .now) }
                return texts == ["new"]
            }
            // One that was committed just then began before.
            #expect(last < .seconds(4), "read at the old server after \(last)")
            try await eventually("it writes there") { (try? await store.add("written")) != nil }
            try await eventually("closures go there too") {
                (try? await store.read { try $0.values("SELECT text FROM note ORDER BY text") as [String] }) == ["new", "written"]
            }
            await store.close()
        }
    }
}

extension PostgresServer {
    func notes() async throws -> Store {
        let options = options()
        return try await offThread { try Store.notes(options) }
    }

    /// From now on no commit ends.
    func loseStandbys() async throws { try await sets("SET synchronous_standby_names = 'absent'") }

    func findStandbys() async throws { try await sets("RESET synchronous_standby_names") }

    func sets(_ setting: String) async throws {
        let server = server
        try await offThread {
            try server.run(sql: "ALTER SYSTEM \(setting)")
            try server.reload()
        }
    }

    @discardableResult
    func asks(_ sql: String) async throws -> String {
        let server = server
        return try await offThread { try server.run(sql: sql) }
    }
}
