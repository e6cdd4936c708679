@testable import ClusterCommands
@testable import CommandKit
import Foundation
import PostgresServer
import ServiceKit
import Storage
import StoragePostgres
import StorageSqlite
import Testing

@Suite("Copying a store from SQLite to PostgreSQL", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct StoreMigrationTests {
    private static let texts: [String?] = ["", "plain", "tab\tline\nreturn\r", #"\N"#, #"\."#, #"back\slash"#, "e\u{301} é 🎬", "'\"", nil]

    @Test("every value arrives as it was, numbers go on behind the greatest, and the file stays as it is")
    func copiesAll() async throws {
        try await StoreSample.with { sample in
            try await sample.write { database in
                try database.run("INSERT INTO owner (name) VALUES ('second')")
                for (number, text) in Self.texts.enumerated() {
                    let octets: [UInt8]? = number % 3 == 0 ? nil : Array(repeating: UInt8(number * 31 % 256), count: number * 40) + [0, 0x5C, 255]
                    try database.run(
                        "INSERT INTO a_thing (owner, text, octets, number, expires_at_ms) VALUES (?, ?, ?, ?, ?)",
                        [number % 2 == 0 ? "first" : "second", text, octets, [Int64.min, .max, 0][number % 3], number])
                }
            }
            let before = try Data(contentsOf: URL(fileURLWithPath: sample.file))
            let server = try sample.makeServer()
            let migration = StoreMigration(description: sample.description(), source: sample.file, server: server)
            let first = try migration.run()
            #expect(!first.wasThere)
            #expect(first.tables.map(\.name) == ["owner", "a_thing"] && first.tables.map(\.digest.rows) == [2, Self.texts.count])
            #expect(try Data(contentsOf: URL(fileURLWithPath: sample.file)) == before)

            let store = try Store(postgres: server.options, name: "things", steps: StoreSample.postgres)
            #expect(try await store.all("SELECT text FROM a_thing ORDER BY id") { $0.next() as String? } == Self.texts)
            #expect(try await store.value("SELECT octets FROM a_thing WHERE id = 3") == [UInt8](repeating: 62, count: 80) + [0, 0x5C, 255])
            #expect(try await store.value("SELECT count(*) FROM only_here") == 1)

            let used = #expect(throws: CommandFailure.self) { try migration.run() }
            #expect(used?.description.contains("is in use by boxoffice-things") == true)
            await store.close()

            let again = try migration.run()
            #expect(again.wasThere && again.tables == first.tables)
            let later = try Store(postgres: server.options, name: "things", steps: StoreSample.postgres)
            #expect(try await later.value("INSERT INTO a_thing (owner) VALUES ('first') RETURNING id") == Self.texts.count + 1)
            await later.close()
            let other = #expect(throws: CommandFailure.self) { try migration.run() }
            #expect(other?.description.contains("rows in") == true)
        }
    }

    @Test("a large table is sent in many pieces")
    func copiesMany() async throws {
        try await StoreSample.with { sample in
            try await sample.write { database in
                try database.run(
                    """
                    INSERT INTO a_thing (owner, text, octets) WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
                    SELECT 'first', 'text ' || n, zeroblob(40) FROM n
                    """)
            }
            let outcome = try StoreMigration(description: sample.description(), source: sample.file, server: sample.makeServer()).run()
            #expect(outcome.tables.last?.digest.rows == 20000)
        }
    }

    @Test("a file of another release, and a text that PostgreSQL cannot keep, are refused; nothing is stored")
    func refuses() async throws {
        try await StoreSample.with { sample in
            try await sample.write { try $0.run("INSERT INTO a_thing (owner, text) VALUES ('first', 'a' || char(0) || 'b')") }
            let server = try sample.makeServer()
            func refusal(_ description: StoreDescription) -> String? {
                #expect(throws: CommandFailure.self) { try StoreMigration(description: description, source: sample.file, server: server).run() }?
                    .description
            }
            let older = sample.description(sqlite: StoreSample.sqlite + [Migration("3-later", sql: "SELECT 1")])
            #expect(refusal(older)?.contains("by an older version of things") == true)
            #expect(refusal(sample.description(sqlite: [StoreSample.sqlite[0]]))?.contains("by a newer version of things") == true)
            let lacking = sample.description(postgres: [Migration("1-tables", sql: "CREATE TABLE owner (name TEXT)")])
            #expect(refusal(lacking)?.contains("has no table a_thing") == true)
        }
        try await StoreSample.with { sample in
            try await sample.write { try $0.run("INSERT INTO a_thing (owner, text) VALUES ('first', 'a' || char(0) || 'b')") }
            let server = try sample.makeServer()
            let migration = StoreMigration(description: sample.description(), source: sample.file, server: server)
            let refusal = #expect(throws: CommandFailure.self) { try migration.run() }
            #expect(refusal?.description.contains("a_thing.text has a text that PostgreSQL cannot keep") == true)
            #expect(try PostgresMaintenance(server.options).count(of: "owner") == 1)
        }
    }

    @Test("a sum of rows does not depend on their order, and on all of their octets")
    func digests() {
        func digest(_ rows: [[StoredValue]]) -> RowsDigest { rows.reduce(into: RowsDigest()) { $0.add($1) } }
        let (one, two): ([StoredValue], [StoredValue]) = ([.text("a"), .integer(1)], [.bytes([97]), .null])
        #expect(digest([one, two]) == digest([two, one]))
        #expect(digest([one]) != digest([one, one]) && digest([one, one]) != digest([]))
        #expect(digest([[.text("ab"), .text("")]]) != digest([[.text("a"), .text("b")]]) && digest([[.text("a")]]) != digest([[.bytes([97])]]))
        #expect(digest([one]).text.count == 16)
    }
}
