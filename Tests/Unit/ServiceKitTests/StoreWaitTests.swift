import Foundation
import Storage
import StorageSqlite
import Synchronization
import Testing

@testable import ServiceKit

@Suite("A start that waits for a store's server", .timeLimit(.minutes(1)))
struct StoreWaitTests {
    @Test("each reason is told once when it begins, again after the reminder's time and not before, and at the end how long it took")
    func reasons() async throws {
        let (folder, lines) = (try Folder(), LogLines())
        let wait = StoreWait(logger: lines.logger(), longestTry: .milliseconds(50), reminder: .milliseconds(700))
        let tries = Mutex(0)
        let starts = Mutex<[ContinuousClock.Instant]>([])
        let store = try await wait.open(at: "db.example:5432") {
            let tried = tries.withLock { tries in
                tries += 1
                return tries
            }
            starts.withLock { $0.append(.now) }
            // Pauses of 0.2 to 0.4 s: the first reason stays for 0.8 s at least.
            if tried <= 4 { throw StoreError(file: "db", reason: "it takes no connection", retryPause: .milliseconds(400)) }
            if tried == 5 { throw StoreError(file: "db", reason: "it takes no writes", retryPause: .milliseconds(200)) }
            return try Store(file: folder.path + "/s.sqlite", name: "test", migrations: [])
        }
        #expect(tries.withLock { $0 } == 6 && wait.lacking == nil)
        // A first try that is slow on a busy machine is told as silence: that is the next test's.
        let told = lines.fields("reason", of: "store.waiting").filter { $0 != "no answer yet" }
        #expect(told.first == "it takes no connection" && told.last == "it takes no writes", "\(told)")
        // The first reason stays no longer than from the first try to the sixth, the second from the fifth to now.
        let (begun, end) = (starts.withLock { $0 }, ContinuousClock.now)
        func most(_ stay: Duration) -> Int { 1 + Int(stay / .milliseconds(700)) }
        let connections = told.filter { $0 == "it takes no connection" }.count
        #expect((2...most(begun[0].duration(to: begun[5]))).contains(connections), "\(told)")
        #expect((1...most(begun[4].duration(to: end))).contains(told.filter { $0 == "it takes no writes" }.count), "\(told)")
        #expect(lines.fields("place", of: "store.waiting").allSatisfy { $0 == "db.example:5432" })
        #expect(lines.field("seconds", of: "store.waited") != nil)
        await store.close()
    }

    @Test("a first try that says nothing is told, too, and told again")
    func silence() async throws {
        let (folder, lines) = (try Folder(), LogLines())
        let wait = StoreWait(logger: lines.logger(), longestTry: .milliseconds(50), reminder: .milliseconds(200))
        let store = try await wait.open(at: "db.example:5432") {
            // A server that takes a connection and never answers.
            while lines.fields("reason", of: "store.waiting").count < 2 { usleep(10_000) }
            return try Store(file: folder.path + "/s.sqlite", name: "test", migrations: [])
        }
        #expect(Set(lines.fields("reason", of: "store.waiting")) == ["no answer yet"])
        await store.close()
    }

    @Test("what no time mends ends the start at once, without a line")
    func lasting() async throws {
        let lines = LogLines()
        let wait = StoreWait(logger: lines.logger())
        await #expect(throws: StoreError(file: "db", reason: "the schema is newer")) {
            _ = try await wait.open(at: "db.example:5432") { throw StoreError(file: "db", reason: "the schema is newer") }
        }
        #expect(lines.fields("reason", of: "store.waiting") == [] && wait.lacking == nil)
    }
}
