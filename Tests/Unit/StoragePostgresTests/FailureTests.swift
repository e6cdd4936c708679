import Faults
import Foundation
import PostgresServer
import Storage
import Testing

@testable import StoragePostgres

extension InTimeTests {
    /// The callers' view while the server is away, and the stored rows when it is back.
    @Suite("A server that fails", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    struct FailureTests {
        @Test("when the server is killed calls fail at once, and what was acknowledged is there when it is back")
        func killed() async throws {
            let server = try await offThread { try PostgresServer() }
            let store = try await server.notes()
            let writers = (0..<8).map { writer in
                Task { () -> [String] in
                    var acknowledged: [String] = []
                    var number = 0
                    while !Task.isCancelled {
                        let text = "\(writer) \(number)"
                        number += 1
                        do {
                            try await store.add(text, inClosure: writer % 2 == 1)
                            acknowledged.append(text)
                        } catch {
                            #expect(((error as? Fault)?.code).map { [.unavailable, .deadlineExceeded].contains($0) } == true, "\(error)")
                            await Task.yield()
                        }
                    }
                    return acknowledged
                }
            }
            for _ in 0..<2 {
                let before = try await store.texts().count
                try await eventually("they write") { (try? await store.texts().count) ?? 0 > before + 100 }
                try await offThread { try server.server.stop(isKilled: true) }
                try await eventually("it is noticed") { store.trouble != nil }
                let start = ContinuousClock.now
                for call in [
                    { _ = try await store.texts() }, { try await store.add("x") }, { try await store.read { _ = try $0.hasRow("SELECT 1") } },
                ] {
                    let fault = await #expect(throws: Fault.self) { try await call() }
                    #expect(fault?.code == .unavailable && fault?.retryAfter != nil)
                }
                #expect(start.duration(to: .now) < .seconds(1))
                try await offThread { try server.server.start() }
                try await eventually("it is back") { store.trouble == nil }
            }
            try await eventually("it writes") { (try? await store.add("back")) != nil }
            var acknowledged: Set<String> = ["back"]
            for writer in writers {
                writer.cancel()
                acknowledged.formUnion(await writer.value)
            }
            let found = Set(try await store.texts())
            #expect(acknowledged.subtracting(found).sorted() == [], "acknowledged writes are lost")
            await store.close()
        }

        @Test("a connection that the server ends while nothing is under way costs no call", .timeLimit(.minutes(1)))
        func ended() async throws {
            let server = try await offThread { try PostgresServer() }
            let store = try await server.notes()
            for round in 0..<5 {
                for way in [true, false] { try await store.add("\(round) before \(way)", inClosure: way) }
                let sessions = try await server.asks(
                    "SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE application_name = 'boxoffice-test'")
                // A worker for each way, and what the closure had.
                #expect(sessions.split(separator: ",").count >= 3)
                try await server.asks("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (\(sessions))")
                try await eventually("they are gone") {
                    try await server.asks("SELECT count(*) FROM pg_stat_activity WHERE pid IN (\(sessions))") == "0"
                }
                for way in [true, false] { try await store.add("\(round) after \(way)", inClosure: way) }
                _ = try await store.read { try $0.hasRow("SELECT 1") }
                #expect(try await store.texts().count == 4 * (round + 1))
            }
            await store.close()
        }

        @Test("a server that says nothing is given up", .timeLimit(.minutes(1)))
        func silent() async throws {
            let server = try await offThread { try PostgresServer() }
            let store = try await server.notes()
            try await store.add("before")
            let processes = try server.server.run(sql: "SELECT pid FROM pg_stat_activity WHERE application_name = 'boxoffice-test'").split(
                separator: "\n")
            let stopped = processes.compactMap { Int32($0) } + [try #require(server.server.pid)]
            for pid in stopped { kill(pid, SIGSTOP) }
            defer { for pid in stopped { kill(pid, SIGCONT) } }
            for call in [{ _ = try await store.texts() }, { try await store.add("meanwhile") }] {
                let fault = await #expect(throws: Fault.self) { try await call() }
                #expect(fault?.code == .unavailable)
            }
            try await eventually("it is told from one that waits for a standby") { store.trouble?.contains("did not answer within") == true }
            for pid in stopped { kill(pid, SIGCONT) }
            try await eventually("it answers again") { (try? await store.texts())?.contains("before") == true }
            await store.close()
        }
    }
}

@Suite("Work that waits for a lane")
struct WorkQueueTests {
    @Test("while a lane gets a connection in place of one that the server ended at rest, work waits; where it gets none, nobody waits any more")
    func returning() throws {
        let queue = WorkQueue<Int>(most: 10)
        let loss = DatabaseError(.unavailable, "gone")
        #expect(throws: Fault.self) { try queue.submit(0) }
        queue.workerConnected()
        #expect(queue.workerDisconnected(loss, wasResting: true) == [] && queue.trouble == nil)
        try queue.submit(1)
        queue.workerConnected()
        #expect(queue.take(10, else: WakePipe()) == [1])

        #expect(queue.workerDisconnected(loss, wasResting: true) == [])
        try queue.submit(2)
        #expect(queue.workerFailed(loss) == [2] && queue.trouble == loss)
        #expect(throws: Fault.self) { try queue.submit(3) }
        // A loss at work says nothing of the next try.
        queue.workerConnected()
        try queue.submit(4)
        #expect(queue.workerDisconnected(loss, wasResting: false) == [4])
        #expect(throws: Fault.self) { try queue.submit(5) }
    }
}
