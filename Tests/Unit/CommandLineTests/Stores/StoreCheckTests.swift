@testable import ClusterCommands
@testable import CommandKit
import Foundation
import PostgresServer
import ServiceKit
import Storage
import StoragePostgres
import StorageSqlite
import Testing

@Suite("Looking at a store")
struct StoreCheckTests {
    /// An hour ago, at the start of the tests, which on a busy machine may be minutes ago.
    private static let old = Int64(Date.now.timeIntervalSince1970 * 1000) - 3_600_000

    @Test("a file: its rows, how far its schema is, and what should have been removed", arguments: [false, true])
    func file(isDeep: Bool) async throws {
        try await StoreSample.with { sample in
            try await sample.write { try $0.run("INSERT INTO a_thing (owner, expires_at_ms) VALUES ('first', ?)", [Self.old]) }
            let report = StoreExamination(description: sample.description(), isDeep: isDeep).report()
            #expect(report.isSound && report.remarks.isEmpty && report.users.isEmpty, "\(report.problems)")
            #expect(report.tables.map(\.name) == ["a_thing", "owner"] && report.tables.map(\.rows) == [1, 1])
            #expect((3500...5400).contains(report.tables[0].overdueSeconds ?? 0) && report.tables[1].overdueSeconds == nil)
            #expect(report.steps == 2 && report.knownSteps == 2 && report.bytes > 4096 && report.journal == "wal")
            #expect(report.lines(Console(isStyled: false)).first == "things  sound  \(sample.file)")
            let later = StoreExamination(
                description: sample.description(sqlite: StoreSample.sqlite + [Migration("3-later", sql: "SELECT 1")]), isDeep: isDeep
            ).report()
            #expect(later.isSound && later.remarks == ["lacks 1 steps of the schema, which things makes at its start"])
            let former = StoreExamination(description: sample.description(sqlite: []), isDeep: isDeep).report()
            #expect(former.problems == ["was changed by a newer version of things, which this one does not understand"])
        }
    }

    @Test("a file that is not there, and one that is damaged, are problems")
    func damaged() async throws {
        try await StoreSample.with { sample in
            #expect(StoreExamination(description: sample.description(), isDeep: false).report().problems == ["does not exist"])
            try await sample.write { database in
                for _ in 0..<400 { try database.run("INSERT INTO a_thing (owner, octets) VALUES ('first', zeroblob(200))") }
            }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: sample.file))
            for page in 2..<12 {
                try handle.seek(toOffset: UInt64(page * 4096))
                try handle.write(contentsOf: Data(repeating: 0xA5, count: 3000))
            }
            try handle.close()
            let report = StoreExamination(description: sample.description(), isDeep: true).report()
            #expect(!report.isSound && report.problems.contains { $0.contains("damaged") }, "\(report.problems)")
        }
    }

    @Test(
        "a database: the same, its server's settings and its clock, and who uses it",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func database() async throws {
        try await StoreSample.with { sample in
            let server = try sample.makeServer()
            let description = sample.description(server)
            let empty = StoreExamination(description: description, isDeep: true).report()
            #expect(empty.isSound && empty.steps == 0 && empty.remarks.contains { $0.contains("lacks 1 steps") })
            let store = try Store(postgres: server.options, name: "things", steps: StoreSample.postgres)
            try await store.write { try $0.run("INSERT INTO a_thing (owner, expires_at_ms) VALUES ('first', ?)", [Self.old - 86_400_000]) }
            let report = StoreExamination(description: description, isDeep: true).report()
            #expect(report.isSound && report.users == ["boxoffice-things"], "\(report.problems)")
            #expect(report.tables.map(\.name) == ["a_thing", "only_here", "owner"] && report.tables.map(\.rows) == [1, 1, 1])
            // 25 hours, and the minutes of the tests.
            let minutes = report.remarks.compactMap { $0.wholeMatch(of: /rows of a_thing should have been removed (\d+) minutes ago/)?.1 }
            #expect(minutes.count == 1 && (1499...1530).contains(minutes.first.flatMap { Int($0) } ?? 0), "\(report.remarks)")
            let facts = try #require(report.server)
            #expect(facts.fsync == "on" && facts.fullPageWrites == "on" && facts.synchronousCommit == "on" && facts.standbys == 0)
            #expect(facts.clockOffsetMilliseconds.magnitude < 1000)
            await store.close()
            let away = sample.description(StoreDescription.Server(hosts: ["127.0.0.1:1"], database: "x", user: "x"))
            #expect(StoreExamination(description: away, isDeep: false).report().problems.first?.contains("cannot be reached") == true)
        }
    }

    @Test(
        "a server that is to wait for a standby and has none is not sound; one that is missing, confirms nothing or is hidden is told",
        arguments: [
            ("", [], false, [], ["waits for no standby"]), ("ANY 1 (a, b, c)", [], false, ["nothing is committed"], []),
            ("ANY 1 (a, b, c)", ["walreceiver streaming async"], false, ["nothing is committed"], []),
            ("ANY 1 (a, b, c)", ["b catchup quorum"], true, ["nothing is committed"], []),
            ("ANY 1 (a, b, c)", ["b streaming quorum", "c streaming quorum"], true, [], []),
            (
                "ANY 1 (a, b, c)", ["b streaming quorum", "walreceiver streaming async"], true, [],
                ["'walreceiver' confirms no commits", "of a, c one"]
            ),
            ("ANY 1 (a, b, c)", ["b  "], true, [], ["1 connected, their state is unknown: GRANT pg_read_all_stats TO \"things\""]),
            ("*", ["x streaming sync"], false, [], []),
        ] as [(String, [String], Bool, [String], [String])])
    func standbys(names: String, standbys: [String], isRequired: Bool, problems: [String], remarks: [String]) {
        var report = StoreReport("things", engine: "postgres", place: "here")
        report.judge(
            standbys.map { text in
                let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
                return Standby(name: parts[0], state: parts[1], sync: parts[2], lag: nil)
            }, names: names, isRequired: isRequired, role: "things")
        #expect(report.problems.count == problems.count && report.remarks.count == remarks.count, "\(report.problems) \(report.remarks)")
        for (found, words) in zip(report.problems + report.remarks, problems + remarks) { #expect(found.contains(words), "\(found)") }
    }
}
