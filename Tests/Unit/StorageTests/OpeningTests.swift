import Faults
import Foundation
import GRDB
import Storage
import Testing

@testable import StorageSqlite

@Suite("Opening a store")
struct OpeningTests {
    @Test("a missing folder is made, for this user only")
    func makesFolder() async throws {
        let folder = try Folder()
        let file = folder.file("deep/er/notes.sqlite")
        let store = try Store(file: file, name: "test", migrations: [notes])
        #expect(try await store.count() == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("a file that is no database is refused by name")
    func refusesForeignFile() throws {
        let folder = try Folder()
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: folder.file("notes.sqlite")))
        let error = #expect(throws: StoreError.self) { try Store.notes(folder) }
        #expect(error?.description.contains(folder.file("notes.sqlite")) == true)
        #expect(error?.reason.contains("damaged") == true)
    }

    @Test("a database with a damaged page is refused by name")
    func refusesDamagedPage() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        for number in 0..<200 { try await store.add("\(number) " + String(repeating: "x", count: 500)) }
        await store.close()
        let file = URL(fileURLWithPath: folder.file("notes.sqlite"))
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(8192..<16384, with: Data(repeating: 0xee, count: 8192))
        try bytes.write(to: file)
        let error = #expect(throws: StoreError.self) { try Store.notes(folder) }
        #expect(error?.reason.contains("damaged") == true)
    }

    @Test("a folder in the file's place is refused by name")
    func refusesFolder() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.file("notes.sqlite"), withIntermediateDirectories: false)
        let error = #expect(throws: StoreError.self) { try Store.notes(folder) }
        #expect(error?.reason.contains("is a folder") == true)
    }

    @Test("a file of a newer version is refused instead of being misread")
    func refusesNewerSchema() async throws {
        let folder = try Folder()
        let newer = Migration("2-more", sql: "CREATE TABLE more (id INTEGER PRIMARY KEY)")
        await (try Store(file: folder.file("notes.sqlite"), name: "test", migrations: [notes, newer])).close()
        let error = #expect(throws: StoreError.self) { try Store.notes(folder) }
        #expect(error?.reason.contains("newer version") == true)
    }

    @Test("the release before goes on with a file to which a newer one only added, until that one needs more")
    func worksWithAdditions() async throws {
        let folder = try Folder()
        let older = try Store.notes(folder)
        try await older.add("kept")
        let added = Migration("2-more", sql: "CREATE TABLE more (id INTEGER PRIMARY KEY)", isAdditive: true)
        let newer = try Store(file: folder.file("notes.sqlite"), name: "test", migrations: [notes, added])
        #expect(try await older.isUnderstood())
        try await older.add("beside the newer one")
        await newer.close()
        await (try Store.notes(folder)).close()
        // The older program undoes nothing.
        await (try Store(file: folder.file("notes.sqlite"), name: "test", migrations: [notes, added])).close()

        let changed = Migration("3-changed", sql: "ALTER TABLE more ADD COLUMN kind TEXT")
        let newest = try Store(file: folder.file("notes.sqlite"), name: "test", migrations: [notes, added, changed])
        #expect(try await newest.isUnderstood())
        #expect(try await !older.isUnderstood())
        let error = #expect(throws: StoreError.self) { try Store.notes(folder) }
        #expect(error?.reason.contains("newer version") == true)
        await newest.close()
        await older.close()
    }

    @Test("a file from before levels were noted gets its level when it is opened")
    func notesTheLevelOfAnOldFile() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await store.write { try $0.run("DROP TABLE schema_level") }
        #expect(try await store.isUnderstood())
        await store.close()
        let again = try Store.notes(folder)
        #expect(try await again.read { try $0.value("SELECT least FROM schema_level") as Int? } == 1)
        await again.close()
    }

    @Test("a later version adds its migrations to what is there")
    func migrates() async throws {
        let folder = try Folder()
        let first = try Store.notes(folder)
        try await first.add("kept")
        await first.close()
        let more = Migration("2-colour", sql: "ALTER TABLE note ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'")
        let second = try Store(file: folder.file("notes.sqlite"), name: "test", migrations: [notes, more])
        #expect(try await second.read { try $0.value("SELECT colour FROM note") as String? } == "grey")
    }

    @Test("of a file that was not closed is told how much came back; a large one is checked within a bound, and said where that was too short")
    func recovered() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        for number in 0..<400 { try await store.add("\(number) " + String(repeating: "x", count: 20_000)) }
        #expect(store.opening == StoreOpening())
        // The files as a kill leaves them.
        func copy(_ name: String) throws -> String {
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.file("notes.sqlite" + suffix), toPath: folder.file(name + suffix))
            }
            return folder.file(name)
        }
        let killed = try Store(file: try copy("killed.sqlite"), name: "test", migrations: [notes])
        #expect(killed.opening.recoveredFrames > 100 && killed.opening.isCheckFinished && killed.place.hasSuffix("killed.sqlite"))
        await killed.close()
        let again = try Store(file: folder.file("killed.sqlite"), name: "test", migrations: [notes])
        #expect(again.opening == StoreOpening())
        await again.close()
        // However soon it is ended, a quick machine may be done.
        var isFinished = true
        for number in 0..<50 where isFinished {
            let hurried = try StoreFile.open(
                try copy("hurried\(number).sqlite"), migrations: [notes], limits: StoreLimits(), checkedSize: 0, checkTime: .microseconds(1))
            #expect(hurried.opening.recoveredFrames > 100)
            isFinished = hurried.opening.isCheckFinished
            try hurried.pool.close()
        }
        #expect(!isFinished)
        let patient = try StoreFile.open(
            try copy("patient.sqlite"), migrations: [notes], limits: StoreLimits(), checkedSize: 0, checkTime: .seconds(60))
        #expect(patient.opening.recoveredFrames > 100 && patient.opening.isCheckFinished)
        try patient.pool.close()
        await store.close()
    }
}
