import PostgresServer
import Storage
import Testing

@testable import StoragePostgres

@Suite("Standbys as operators see them")
struct StandbyTests {
    @Test(
        "the names that commits wait for",
        arguments: [
            ("", []), ("*", ["*"]), ("ANY 1 (db_a, db_b, db_c)", ["db_a", "db_b", "db_c"]), ("FIRST 2 (a,b)", ["a", "b"]), ("2 (a, b)", ["a", "b"]),
            ("a, b", ["a", "b"]), (#"any 1 ("db-a", "x ""y"", (z)", b)"#, ["db-a", #"x "y", (z)"#, "b"]), (" a ", ["a"]),
        ] as [(String, [String])])
    func names(setting: String, expected: [String]) { #expect(StandbyNames(setting).names == expected) }

    @Test("what is missing is told by name, what nobody waits for only by how far it is behind, and of what is hidden nothing")
    func told() {
        let names = StandbyNames("ANY 1 (db_a, db_b, db_c)")
        let standbys = [
            Standby(name: "DB_B", state: "streaming", sync: "quorum", lag: 0), Standby(name: "db_c", state: "catchup", sync: "quorum", lag: 7),
            Standby(name: "walreceiver", state: "streaming", sync: "async", lag: 9),
        ]
        #expect(names.missing(in: standbys) == ["db_a", "db_c"])
        let told = StandbyGauges.told(standbys, names)
        #expect(told.streaming == ["db_a": 0, "db_b": 1, "db_c": 0] && told.lags == ["db_b": 0, "db_c": 7, "walreceiver": 9])
        let hidden = StandbyGauges.told([Standby(name: "db_b", state: "", sync: "", lag: nil)], names)
        #expect(hidden.streaming == [:] && hidden.lags == [:])
        #expect(StandbyGauges.told([], StandbyNames("")).streaming == [:])
        #expect(Standby.grant(to: #"a"b"#) == #"GRANT pg_read_all_stats TO "a""b""#)
    }
}

extension InTimeTests {
    @Suite("A server with a standby", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    struct ReplicatedTests {
        @Test("a role that was let sees its standbys, any other one only that they are there", .timeLimit(.minutes(1)))
        func seen() async throws {
            let servers = try await offThread { try ReplicatedServer() }
            defer { servers.end() }
            var options = servers.primary.options(schema: "public")
            let owner = try PostgresMaintenance(options)
            try await eventually("it streams") { try owner.standbys().map(\.isConfirming) == [true] }
            let standby = try #require(try owner.standbys().first)
            #expect(standby.sync == "sync" && standby.lag != nil)
            try owner.run("CREATE ROLE plain LOGIN")
            options.user = "plain"
            let plain = try PostgresMaintenance(options)
            #expect(try plain.standbys().map(\.isHidden) == [true])
            try owner.run(Standby.grant(to: "plain"))
            #expect(try plain.standbys().map(\.isConfirming) == [true])
        }
    }
}
