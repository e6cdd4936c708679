import Clocks
import Faults
import Logging
import ManualClocks
import Storage
import StorageSqlite
import Testing

/// The promises to a store that runs statements.
@Suite("Statements")
struct DatabaseTests {
    private static let things = Migration(
        "1-things",
        sql: "CREATE TABLE thing (id INTEGER PRIMARY KEY, place TEXT NOT NULL, text TEXT, octets BLOB, expires_at_ms INTEGER, UNIQUE (place, text))")

    private static func store(_ folder: Folder) throws -> Store {
        try Store(file: folder.file("things.sqlite"), name: "test", migrations: [things])
    }

    @Test("A text with U+0000 is refused, and what stands beside it is stored")
    func nul() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        let bad = await #expect(throws: Fault.self) { try await store.add("a\0b") }
        #expect(bad?.code == .invalidRequest)
        let search = await #expect(throws: Fault.self) { try await store.value("SELECT id FROM note WHERE text = ?", ["\0"]) as Int? }
        #expect(search?.code == .invalidRequest)
        try await store.add("good")
        #expect(try await store.count() == 1)
    }

    @Test("values come back as they were given, the empty ones, those with a zero octet and NULL too")
    func roundTrip() async throws {
        let store = try Self.store(try Folder())
        let given: [(String?, [UInt8]?)] = [
            ("", []), (nil, nil), ("a b", [0, 1, 0]), ("e\u{301}", [255]),
            (String(repeating: "long ", count: 400), [UInt8](repeating: 7, count: 70_000)),
        ]
        try await store.write { database throws in
            for (number, (text, octets)) in given.enumerated() {
                let values: Arguments = [number, "a", text, octets]
                #expect(try database.run("INSERT INTO thing (id, place, text, octets) VALUES (?, ?, ?, ?)", values) == 1)
            }
        }
        let found = try await store.read {
            try $0.all("SELECT text, octets FROM thing ORDER BY id") { ($0.next() as String?, $0.next() as [UInt8]?) }
        }
        #expect(found.map(\.0) == given.map(\.0))
        #expect(found.map(\.0?.utf8.count) == given.map(\.0?.utf8.count))
        #expect(found.map(\.1) == given.map(\.1))
    }

    @Test("an argument may stand in several places, and none of the call before is left")
    func places() async throws {
        let store = try Self.store(try Folder())
        let found = try await store.read { database throws in
            try (0..<2).map { round in
                try database.first("SELECT ?2, ?1, ?2, ?3", [round, "b", round == 0 ? "c" : nil]) { columns in
                    "\(columns.next() as String) \(columns.next() as Int) \(columns.next() as String) \(columns.next() as String? ?? "-")"
                }
            }
        }
        #expect(found == ["b 0 b c", "b 1 b -"])
    }

    @Test("a statement that changes rows runs to its end, whatever is read of them, and is told how many they were")
    func changes() async throws {
        let store = try Self.store(try Folder())
        try await store.write { database throws in
            for number in 0..<5 { try database.run("INSERT INTO thing (place, text) VALUES ('a', ?)", ["\(number)"]) }
        }
        let first = try await store.write { try $0.value("UPDATE thing SET place = 'b' WHERE place = 'a' RETURNING text") as String? }
        #expect(first != nil)
        #expect(try await store.read { try $0.value("SELECT count(*) FROM thing WHERE place = 'b'") } == 5)
        #expect(try await store.write { try $0.run("DELETE FROM thing WHERE text < ?", ["3"]) } == 3)
        #expect(try await store.write { try $0.run("DELETE FROM thing WHERE text < ?", ["3"]) } == 0)
        #expect(try await store.read { try $0.hasRow("SELECT 1 FROM thing WHERE text = '3'") })
        #expect(try await store.read { try !$0.hasRow("SELECT 1 FROM thing WHERE text = '1'") })
    }

    @Test("what a reader of rows throws ends the statement, which serves again")
    func throwing() async throws {
        let store = try Self.store(try Folder())
        try await store.write { try $0.run("INSERT INTO thing (place) VALUES ('a'), ('b')") }
        let statement: Statement = "SELECT place FROM thing WHERE place >= ? ORDER BY place"
        try await store.read { database throws in
            #expect(throws: Fault.self) { try database.all(statement, ["a"]) { _ in throw Fault(.notFound, "no") } }
            #expect(try database.values(statement, ["a"]) == ["a", "b"])
            #expect(try database.first(statement, ["b"]) { $0.next() as String } == "b")
            #expect(try database.values(statement, ["a"]) == ["a", "b"])
        }
    }

    @Test("an error of the engine says its kind and the statement, and no argument")
    func errors() async throws {
        let store = try Self.store(try Folder())
        try await store.write { database throws in
            try database.run("INSERT INTO thing (place, text) VALUES (?, ?)", ["secret", "x"])
            let error = #expect(throws: DatabaseError.self) { try database.run("INSERT INTO thing (place, text) VALUES (?, ?)", ["secret", "x"]) }
            #expect(error?.kind == .other)
            #expect(error?.description.contains("INSERT INTO thing") == true && error?.description.contains("secret") == false)
            #expect(throws: DatabaseError.self) { try database.run("DELETE FROM thing WHERE id = ?", []) }
            #expect(throws: DatabaseError.self) { try database.run("DELETE FROM thing WHERE id = ?", [1, 2]) }
            #expect(throws: DatabaseError.self) { try database.values("SELECT x FROM nowhere") as [Int] }
        }
    }

    @Test(
        "rows are swept by keys of several columns, and by their end where nothing else tells them apart",
        arguments: [["place", "text"], ["expires_at_ms"]])
    func sweepsByKey(key: [String]) async throws {
        let store = try Self.store(try Folder())
        try await store.write { database throws in
            for number in 0..<30 {
                let values: Arguments = ["p\(number % 3)", "\(number)", Int64(number / 5)]
                try database.run("INSERT INTO thing (place, text, expires_at_ms) VALUES (?, ?, ?)", values)
            }
            try database.run("INSERT INTO thing (place, text) VALUES ('stays', 'without an end')")
        }
        let sweep = Sweep(table: "thing", key: key, expiryColumn: "expires_at_ms", batchSize: 4)
        let sweeper = Sweeper(
            store: store, name: "test", sweeps: [sweep], clock: ManualClock(Timestamp(milliseconds: 3)), logger: Logger(label: "test"))
        #expect(try await sweeper.sweep(sweep) == 20)
        #expect(try await store.read { try $0.value("SELECT count(*) FROM thing") } == 11)
    }
}
