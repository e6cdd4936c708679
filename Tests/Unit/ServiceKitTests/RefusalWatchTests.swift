import Faults
import Storage
import StorageSqlite
import Testing

@testable import ServiceKit

@Suite("What is said of writes that are not taken")
struct RefusalWatchTests {
    private let start = ContinuousClock.now

    @Test("at once, then each minute with the count since; a try comes once ten seconds brought no refusal, and again after ten more")
    func reports() {
        var reports = RefusalReports()
        func look(_ isRefusing: Bool, _ refused: Int, at seconds: Int) -> RefusalReports.Action {
            reports.look(isRefusing: isRefusing, refused: refused, at: start + .seconds(seconds))
        }
        #expect(look(false, 0, at: 0) == .init())
        #expect(look(true, 3, at: 2) == .init(told: 3))
        #expect(look(true, 9, at: 10) == .init())
        #expect(look(true, 9, at: 18) == .init())
        #expect(look(true, 9, at: 20) == .init(tries: true))
        #expect(look(true, 9, at: 28) == .init())
        #expect(look(true, 9, at: 30) == .init(tries: true))
        #expect(look(true, 40, at: 62) == .init(told: 37))
        #expect(look(true, 40, at: 122) == .init(told: 0, tries: true))
        let end = reports.end(at: start + .seconds(122))
        #expect(end.writes == 40 && end.seconds == 120)
        #expect(look(false, 40, at: 124) == .init())
        #expect(look(true, 41, at: 126) == .init(told: 1), "another trouble")
    }

    @Test("the log tells the beginning at error and the end at notice, and in between the program is ready and says that its store is full")
    func log() async throws {
        let (folder, lines, readiness) = (try Folder(), LogLines(), Readiness())
        let table = Migration("1", sql: "CREATE TABLE t (x TEXT NOT NULL)")
        let store = try Store(file: folder.path + "/s.sqlite", name: "test", migrations: [table], limits: StoreLimits(pages: 30))
        let watch = RefusalWatch(store: store, logger: lines.logger())
        readiness.note("storage") { watch.lacking }
        var refused = 0
        for octets in [3000, 300, 30] {
            for _ in 0..<2000 {
                do throws(Fault) {
                    try await store.write { try $0.run("INSERT INTO t (x) VALUES (?)", [String(repeating: "x", count: octets)]) }
                } catch {
                    #expect(error.code == .storageFull)
                    refused += 1
                    break
                }
            }
        }
        await watch.look(at: start)
        #expect(readiness.lacking == [] && readiness.degraded == ["storage: full"])
        #expect(lines.field("level", of: "store.refuses") == "error" && lines.field("count", of: "store.refuses") == "\(refused)")
        await watch.look(at: start + .seconds(11))
        #expect(lines.field("level", of: "store.takes_again") == nil && readiness.degraded == ["storage: full"])
        try await store.write { try $0.run("DELETE FROM t") }
        await watch.look(at: start + .seconds(22))
        #expect(lines.field("level", of: "store.takes_again") == "notice" && lines.field("seconds", of: "store.takes_again") == "22")
        #expect(readiness.degraded == [])
        await store.close()
    }
}
