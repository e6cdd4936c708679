import Clocks
import Faults
import Logging
import ManualClocks
import PostgresServer
import SpanRecordings
import Spans
import Storage
import StoragePostgres
import Testing

/// The promises to a store whose rows are in PostgreSQL, as `StorageTests` has them for SQLite.
@Suite("Statements", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct StatementTests {
    @Test("values come back as they were given, by each way", arguments: [true, false])
    func roundTrip(isPrepared: Bool) async throws {
        try await withNotes({ $0.isPrepared = isPrepared }) { store in
            let given: [(String, [UInt8]?, Int64)] = [
                ("", [], 0), ("e\u{301}", [0, 255], .max), ("é", nil, .min),
                (String(repeating: "long ", count: 4000), [UInt8](repeating: 7, count: 70_000), -1),
            ]
            let insert: Statement = "INSERT INTO note (text, octets, count) VALUES (?, ?, ?)"
            for (index, (text, octets, count)) in given.enumerated() {
                let values: Arguments = [text, octets, count]
                if index % 2 == 0 {
                    #expect(try await store.change(insert, values) == 1)
                } else {
                    #expect(try await store.write { try $0.run(insert, values) } == 1)
                }
            }
            let select: Statement = "SELECT text, octets, count FROM note ORDER BY id"
            let looked = try await store.all(select) { ($0.next() as String, $0.next() as [UInt8]?, $0.next() as Int64) }
            let read = try await store.read { try $0.all(select) { ($0.next() as String, $0.next() as [UInt8]?, $0.next() as Int64) } }
            for found in [looked, read] {
                #expect(
                    found.map(\.0.utf8.count) == given.map(\.0.utf8.count) && found.map(\.1) == given.map(\.1) && found.map(\.2) == given.map(\.2))
            }
            // A value was NULL, is not, and is again.
            for octets in [nil, [1], nil, [2]] as [[UInt8]?] {
                #expect(try await store.value("SELECT count(*) FROM note WHERE octets IS NOT DISTINCT FROM ?", [octets]) == (octets == nil ? 1 : 0))
            }
            #expect(try await store.value("SELECT 1 WHERE ? IN ('', 'a')", ["a"]) == 1)
        }
    }

    @Test("to a trace a server is somebody else; statements are told without their values")
    func spans() async throws {
        let trace = SpanRecordings.trace()
        try await withNotes { store in
            let span = try #require(Span.serving(trace, parent: nil, "x", []))
            try await Span.$current.withValue(span) {
                try await store.change("INSERT INTO note (text) VALUES (?)", ["secret"])
                let found: String? = try await store.value("SELECT text FROM note WHERE text = ?", ["secret"])
                #expect(found == "secret")
                _ = try await store.read { try $0.value("SELECT count(*) FROM note") as Int? }
                await #expect(throws: Fault.self) { try await store.value("SELECT nonsense FROM note") as Int? }
            }
        }
        let spans = SpanRecordings.shared.of(trace)
        #expect(spans.map { String($0.name.prefix { $0 != " " }) } == ["INSERT", "SELECT", "read", "SELECT"])
        #expect(spans.map(\.error) == [nil, nil, nil, "internal"])
        #expect(
            spans.allSatisfy { $0.kind == .client && $0.parent == trace.span && $0["db.system.name"] == "postgresql" && $0["server.address"] != nil })
        #expect(spans[1]["db.query.text"] == "SELECT text FROM note WHERE text = ?" && spans[0]["db.operation.batch.size"] == 1)
        #expect(!"\(spans)".contains("secret"))
    }

    @Test("a plan is stored whole or not at all, whatever becomes of those beside it")
    func plans() async throws {
        try await withNotes { store in
            try await store.add("taken")
            @Sendable func plan(_ number: Int) -> Plan {
                var plan = Plan(for: "\(number)")
                plan.add("INSERT INTO note (text) VALUES (?)", ["first \(number)"], rows: 1)
                switch number % 4 {
                case 0: plan.add("UPDATE note SET count = count + 1 WHERE text = ?", ["absent"], rows: 1)
                case 1: plan.add("INSERT INTO note (text) VALUES (?)", ["taken"])
                default: plan.add("UPDATE note SET count = count + 1 WHERE text = ? RETURNING count", ["taken"], rows: 1)
                }
                return plan
            }
            let results = try await withThrowingTaskGroup { group in
                for number in 0..<40 { group.addTask { (number, try await store.commit { plan(number) }) } }
                return try await group.reduce(into: [Int: [any StoredRows]?]()) { $0[$1.0] = .some($1.1) }
            }
            for (number, rows) in results { #expect((rows == nil) == (number % 4 < 2), "\(number)") }
            let counts = try results.values.compactMap { try $0?.last?.first { $0.next() as Int } }
            #expect(counts.sorted() == Array(1...20))
            #expect(try await store.texts().count == 21)
            let fault = await #expect(throws: Fault.self) {
                try await store.commit {
                    var plan = Plan(for: "")
                    plan.add("INSERT INTO nowhere (text) VALUES (?)", ["x"])
                    return plan
                }
            }
            #expect(fault?.code == .internal)
        }
    }

    @Test("what reads and then writes is as if nobody else wrote")
    func serializable() async throws {
        try await withNotes { store in
            try await store.add("counter")
            try await withThrowingTaskGroup { group in
                for _ in 0..<40 {
                    group.addTask {
                        try await store.write { database in
                            let count: Int = try database.value("SELECT count FROM note WHERE text = 'counter'") ?? 0
                            try database.run("UPDATE note SET count = ? WHERE text = 'counter'", [count + 1])
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.value("SELECT count FROM note WHERE text = 'counter'") == 40)
        }
    }

    @Test("a key that is taken meanwhile lets a transaction look once more, and stays an error where it does not look")
    func duplicates() async throws {
        try await withNotes { store in
            let made = try await withThrowingTaskGroup { group in
                for _ in 0..<16 {
                    group.addTask {
                        try await store.write { database in
                            if try database.hasRow("SELECT 1 FROM note WHERE text = 'only'") { return 0 }
                            return try database.run("INSERT INTO note (text) VALUES ('only')")
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(made == 1)
            for add in [{ try await store.add("only") }, { _ = try await store.write { try $0.run("INSERT INTO note (text) VALUES ('only')") } }] {
                let fault = await #expect(throws: Fault.self) { try await add() }
                #expect(fault?.code == .internal)
            }
        }
    }

    @Test("a text with U+0000 is refused by each way, and disturbs nobody")
    func nul() async throws {
        try await withNotes { store in
            let ways: [() async throws -> Void] = [
                { try await store.add("a\0b") }, { _ = try await store.value("SELECT id FROM note WHERE text = ?", ["\0"]) as Int? },
                { _ = try await store.write { try $0.run("INSERT INTO note (text) VALUES (?)", ["\0"]) } },
                { _ = try await store.read { try $0.hasRow("SELECT 1 FROM note WHERE text = ?", ["\0"]) } },
            ]
            for way in ways {
                let fault = await #expect(throws: Fault.self) { try await way() }
                #expect(fault?.code == .invalidRequest)
            }
            try await store.add("good")
            #expect(try await store.texts() == ["good"])
        }
    }

    @Test("what a closure throws undoes what it did, and is told as it is")
    func throwing() async throws {
        try await withNotes { store throws in
            let fault = await #expect(throws: Fault.self) {
                try await store.write { database in
                    try database.run("INSERT INTO note (text) VALUES ('gone')")
                    throw Fault(.notFound, "no")
                }
            }
            #expect(fault?.code == .notFound)
            #expect(try await store.texts() == [])
        }
    }

    @Test("a statement that fails disturbs none that goes beside it, and its error holds no argument")
    func failing() async throws {
        try await withNotes { store in
            try await store.add("here")
            let outcomes = await withTaskGroup { group in
                for number in 0..<60 {
                    group.addTask { () -> Bool in
                        let select: Statement = number % 5 == 0 ? "SELECT nothing FROM note WHERE text = ?" : "SELECT 1 FROM note WHERE text = ?"
                        do throws(Fault) {
                            return try await store.value(select, ["here"]) == 1
                        } catch {
                            #expect("\(error.cause as Any)".contains("42703") && !"\(error.cause as Any)".contains("here"))
                            return false
                        }
                    }
                }
                return await group.reduce(into: [Bool: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(outcomes == [true: 48, false: 12])
            // It serves once it can.
            try await store.write { try $0.run("ALTER TABLE note ADD COLUMN nothing BIGINT NOT NULL DEFAULT 1") }
            #expect(try await store.value("SELECT nothing FROM note WHERE text = ?", ["here"]) == 1)
        }
    }

    @Test("a transaction that reads sees one snapshot, and can change nothing")
    func snapshots() async throws {
        try await withNotes { store in
            let fault = await #expect(throws: Fault.self) { try await store.read { try $0.run("INSERT INTO note (text) VALUES ('x')") } }
            #expect(fault?.code == .unavailable || fault?.code == .internal)
            try await store.add("seen")
            #expect(try await store.read { try $0.values("SELECT text FROM note") as [String] } == ["seen"])
            let size = try await store.size()
            #expect(size.bytes > 8192 && size.limit == nil)
        }
    }

    @Test("expired rows are swept in batches")
    func sweeps() async throws {
        try await withNotes { store in
            for number in 0..<20 { try await store.change("INSERT INTO note (text, expires_at_ms) VALUES (?, ?)", ["\(number)", number]) }
            let sweep = Sweep(table: "note", key: ["text", "id"], expiryColumn: "expires_at_ms", batchSize: 4)
            let sweeper = Sweeper(
                store: store, name: "test", sweeps: [sweep], clock: ManualClock(Timestamp(milliseconds: 9)),
                logger: Logger(label: "test"))
            #expect(try await sweeper.sweep(sweep) == 10)
            #expect(try await store.texts().count == 10)
        }
    }

    @Test("over its bounds a store refuses at once, and closed it finishes what waits")
    func bounds() async throws {
        let store = try Store.notes(try PostgresServer.shared.options(), limits: StoreLimits(waitingWrites: 2))
        let faults = await withTaskGroup { group in
            for number in 0..<64 {
                group.addTask { () -> Fault.Code? in
                    do throws(Fault) {
                        try await store.write {
                            _ = try $0.values("SELECT CAST(pg_sleep(0.2) AS TEXT) FROM note") as [String];
                            try $0.run("INSERT INTO note (text) VALUES (?)", ["\(number)"])
                        }
                        return nil
                    } catch { return error.code }
                }
            }
            return await group.reduce(into: [Fault.Code?]()) { $0.append($1) }
        }
        let stored = faults.count { $0 == nil }
        #expect(faults.contains(.overloaded) && stored > 0)
        #expect(try await store.texts().count == stored)
        async let last: Void = store.add("last")
        try await eventually("it is on its way") { try await store.texts().contains("last") }
        await store.close()
        try await last
        let fault = await #expect(throws: Fault.self) { try await store.add("late") }
        #expect(fault?.code == .unavailable)
    }
}
