import Faults
import Foundation
import PostgresServer
import Storage
import Synchronization
import Testing

@testable import StoragePostgres

extension InTimeTests {
    /// The callers' view while the server is away, and the stored rows when it is back.
    @Suite("A server that fails", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    struct FailureTests {
        @Test("when the server is killed calls fail within a second, changes under way within six, and what was acknowledged is there later")
        func killed() async throws {
            let server = try await offThread { try PostgresServer() }
            let store = try await server.notes()
            let slowest = Slowest()
            let writers = (0..<8).map { writer in
                Task { () -> [String] in
                    var acknowledged: [String] = []
                    var number = 0
                    while !Task.isCancelled {
                        let text = "\(writer) \(number)"
                        number += 1
                        let begun = ContinuousClock.now
                        do {
                            try await store.add(text, inClosure: writer % 2 == 1)
                            acknowledged.append(text)
                        } catch {
                            let took = begun.duration(to: .now)
                            slowest.note(took)
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
            // Whether a commit that was under way has happened is looked for first.
            #expect(slowest.time < .seconds(6), "a call that failed took \(slowest.time)")
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

    @Test(
        "behind a lane that hangs in a dead server nobody waits once another lane has found none; a free lane, an answer or a new connection ends that"
    )
    func hanging() throws {
        let queue = WorkQueue<Int>(most: 10)
        let loss = DatabaseError(.unavailable, "gone")
        func bothAreConnected() {
            queue.workerConnected()
            queue.workerConnected()
        }
        bothAreConnected()
        // One is at work, the other one is lost.
        _ = queue.workerDisconnected(loss, wasResting: true)
        try queue.submit(1)
        #expect(queue.workerFailed(loss) == [1] && queue.trouble == loss)
        #expect(throws: Fault.self) { try queue.submit(2) }
        // That which was at work has got its answer after all.
        #expect(queue.take(10, else: WakePipe()) == [] && queue.trouble == nil)
        // It is free now: another failure is no reason.
        #expect(queue.workerFailed(loss) == [])
        try queue.submit(3)
        #expect(queue.take(10, else: WakePipe()) == [3])
        #expect(queue.workerFailed(loss) == [])
        #expect(throws: Fault.self) { try queue.submit(4) }
        queue.workerConnected()
        try queue.submit(5)
        #expect(queue.take(10, else: WakePipe()) == [5])
        // A server that lacks room for one more is there.
        #expect(queue.workerFailed(DatabaseError(.busy, "no room")) == [] && queue.trouble == nil)
        try queue.submit(6)
    }
}

@Suite("The choice of a server")
struct ServerChoiceTests {
    @Test("when all connections are lost at once one thread asks the servers for all, and what it hears is told to the others")
    func together() async throws {
        let server = try DyingServer()
        var options = PostgresOptions(hosts: [.init(name: "127.0.0.1", port: server.port)], database: "d", user: "u")
        options.schema = "s"
        let choice = ServerChoice(options, program: "test")
        let reasons = await withTaskGroup { group in
            for _ in 0..<12 {
                group.addTask {
                    (try? await offThread { () -> String in
                        do {
                            _ = try choice.connect()
                            return "connected"
                        } catch {
                            return "\(error)"
                        }
                    }) ?? ""
                }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(reasons.count == 1 && reasons.first?.contains("server closed the connection") == true, "\(reasons)")
        #expect((1...3).contains(server.connections), "\(server.connections) of 12")
        // Whoever comes later asks anew.
        let before = server.connections
        await #expect(throws: PostgresError.self) { try await offThread { _ = try choice.connect() } }
        #expect(server.connections == before + 1)
    }
}

/// Takes connections one by one, and ends each after a moment.
private final class DyingServer: Sendable {
    let port: UInt16
    private let descriptor: CInt
    private let count = Count()

    private final class Count: Sendable {
        let connections = Atomic(0)
    }

    var connections: Int { count.connections.load(ordering: .acquiring) }

    init() throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, address, &length) == 0
        }
        try #require(isListening)
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [count] in
            while case let taken = accept(descriptor, nil, nil), taken >= 0 {
                count.connections.add(1, ordering: .acquiringAndReleasing)
                usleep(500_000)
                close(taken)
            }
        }
    }

    deinit {
        _ = shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }
}

/// The longest time of those that were noted.
private final class Slowest: Sendable {
    private let longest = Mutex(Duration.zero)

    var time: Duration { longest.withLock { $0 } }

    func note(_ time: Duration) { longest.withLock { $0 = max($0, time) } }
}
