import Faults
import Foundation
import Glibc
import Storage
import StorageSqlite
import Testing

@Suite("Writes that the disk does not take")
struct RefusalTests {
    /// Adds notes of so many octets until one is refused.
    private static func fill(_ store: Store, _ octets: Int, _ prefix: String) async -> Fault? {
        for number in 0..<5000 {
            do throws(Fault) {
                try await store.add("\(prefix) \(number) " + String(repeating: "x", count: octets))
            } catch {
                return error
            }
        }
        return nil
    }

    @Test("a file at its limit is told as full, with what to do, until a write that needs room is taken again; reads go on")
    func limit() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(pages: 40))
        #expect(store.refusal == nil && store.refusedWrites == 0)
        for octets in [4000, 900, 90] { #expect(await Self.fill(store, octets, "\(octets)")?.code == .storageFull) }
        #expect(store.refusedWrites == 3)
        let refusal = try #require(store.refusal)
        #expect(refusal.reason == .full && refusal.advice.contains("limits.storeMebibytes"), "\(refusal)")
        #expect(await !store.takesWritesAgain() && store.refusal != nil)
        let count = try await store.count()
        let generation = store.generation
        try await store.write { try $0.run("DELETE FROM note WHERE id <= 3") }
        #expect(store.refusal != nil, "a write that needs no room says nothing")
        #expect(await store.takesWritesAgain() && store.refusal == nil)
        #expect(store.generation == generation, "the try is no commit of others")
        #expect(try await store.count() == count - 3)
        try await store.add("taken again")
        #expect(store.refusedWrites == 3)
        await store.close()
        #expect(await !store.takesWritesAgain())
    }

    @Test("a fault of the caller's own is none of the disk")
    func ownFault() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await store.add("one")
        await #expect(throws: Fault.self) { try await store.add("one") }
        await #expect(throws: Fault.self) { try await store.write { _ -> Int in throw Fault(.storageFull, "somebody's word") } }
        #expect(store.refusal == nil && store.refusedWrites == 0)
        await store.close()
    }

    @Test("a folder that cannot be made is told with its reason")
    func folder() throws {
        let folder = try Folder()
        try Data().write(to: URL(fileURLWithPath: folder.file("file")))
        for path in ["file/notes.sqlite", "file/deeper/notes.sqlite"] {
            let error = #expect(throws: StoreError.self) { try Store(file: folder.file(path), name: "test", migrations: [notes]) }
            #expect(error?.reason.contains("a file stands where a folder is to be") == true, "\(error?.reason ?? "")")
        }
        #expect(FileTrouble.makeFolder(folder.file("a/b/c")) == nil && FileTrouble.makeFolder(folder.file("a/b/c")) == nil)
    }

    private static let canMount = geteuid() == 0 && ProcessInfo.processInfo.environment["BOXOFFICE_LONG"] == "1"

    @Test("a disk that is full is told as full, one that is mounted read-only as that", .enabled(if: canMount, "needs root, and --long"))
    func disk() async throws {
        let folder = try Folder()
        let disk = folder.file("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        try #require(mount("tmpfs", disk, "tmpfs", 0, "size=16m,mode=700") == 0, "\(String(cString: strerror(errno)))")
        defer { umount2(disk, 2 /* MNT_DETACH */) }
        let file = disk + "/notes.sqlite"
        let store = try Store(file: file, name: "test", migrations: [notes])
        try await store.add("first")
        let filler = disk + "/filler"
        #expect(FileManager.default.createFile(atPath: filler, contents: nil))
        let handle = try #require(FileHandle(forWritingAtPath: filler))
        let block = Data(repeating: 0, count: 4096)
        while (try? handle.write(contentsOf: block)) != nil {}
        #expect(await Self.fill(store, 3000, "more") != nil)
        let refusal = try #require(store.refusal)
        #expect(refusal.reason == .full && refusal.advice == FileTrouble.advice(ENOSPC), "\(refusal)")
        #expect(await !store.takesWritesAgain())
        #expect(try await store.count() >= 1)
        try handle.close()
        try FileManager.default.removeItem(atPath: filler)
        #expect(await store.takesWritesAgain() && store.refusal == nil)
        try await store.add("last")
        await store.close()

        let readOnly: UInt = 32 | 1  // MS_REMOUNT, MS_RDONLY
        try #require(mount("tmpfs", disk, "tmpfs", readOnly, "") == 0, "\(String(cString: strerror(errno)))")
        for path in [file, disk + "/deeper/notes.sqlite"] {
            let error = #expect(throws: StoreError.self) { try Store(file: path, name: "test", migrations: [notes]) }
            #expect(error?.reason.contains("mounted read-only") == true, "\(error?.reason ?? "")")
        }
    }
}
