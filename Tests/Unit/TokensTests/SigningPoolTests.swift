import Faults
import Foundation
import Testing
import Tokens

@Suite struct SigningPoolTests {
    @Test func doesAllWorkOnItsOwnThreads() async throws {
        let pool = SigningPool(threads: 2)
        let threads = try await withThrowingTaskGroup(of: (caller: UInt, signer: UInt).self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let caller = Self.thread()
                    return (caller, try await pool.run { Self.thread() })
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let signers = Set(threads.map(\.signer))
        #expect((1...2).contains(signers.count))
        #expect(signers.isDisjoint(with: threads.map(\.caller)))
    }

    private static func thread() -> UInt { UInt(pthread_self()) }

    @Test func refusesWhatExceedsItsQueue() async throws {
        let pool = SigningPool(threads: 1, waitingLimit: 1)
        let gate = Gate()
        let busy = Task { try await pool.run { gate.pass() } }
        await gate.isReached()
        // The thread is held at the gate: one job finds room to wait, every other is refused.
        let outcomes = await withTaskGroup(of: Fault.Code?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do throws(Fault) {
                        try await pool.run {}
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            var outcomes: [Fault.Code?] = []
            for await outcome in group {
                outcomes.append(outcome)
                if outcomes.count == 3 { gate.open() }
            }
            return outcomes
        }
        try await busy.value
        #expect(outcomes.filter { $0 == .overloaded }.count == 3)
        #expect(outcomes.filter { $0 == nil }.count == 1)
    }

    @Test func refusesWhatWouldWaitTooLong() async throws {
        let pool = SigningPool(threads: 1, longestWait: .milliseconds(10), leastRoom: 2)
        try await pool.run { Thread.sleep(forTimeInterval: 0.02) }
        let gate = Gate()
        let busy = Task { try await pool.run { gate.pass() } }
        await gate.isReached()
        let waiting = (0..<2).map { _ in Task { try await pool.run {} } }
        while (try? pool.requireRoom()) != nil { try await Task.sleep(for: .milliseconds(1)) }
        await #expect { try await pool.run {} } throws: { ($0 as? Fault)?.code == .overloaded && ($0 as? Fault)?.retryAfter != nil }
        gate.open()
        try await busy.value
        for task in waiting { try await task.value }
        // The faster the signatures, the more of them may wait.
        for _ in 0..<200 { try await pool.run {} }
        try pool.requireRoom()
    }

    @Test func takesMoreOfWhatIsQuick() async throws {
        let pool = SigningPool(threads: 1, waitingLimit: 100, longestWait: .seconds(10), leastRoom: 1)
        try await pool.run {}
        let gate = Gate()
        let busy = Task { try await pool.run { gate.pass() } }
        await gate.isReached()
        let waiting = (0..<100).map { _ in Task { try await pool.run {} } }
        while (try? pool.requireRoom()) != nil { try await Task.sleep(for: .milliseconds(1)) }
        gate.open()
        try await busy.value
        for task in waiting { try await task.value }
    }

    @Test func givesEveryCallerItsOwnResultHoweverManyWait() async throws {
        let pool = SigningPool(threads: 2, waitingLimit: 200, leastRoom: 200)
        let gates = [Gate(), Gate()]
        let busy = gates.map { gate in Task { try await pool.run { gate.pass() } } }
        for gate in gates { await gate.isReached() }
        let results = await withTaskGroup(of: (Int, Int?).self) { group in
            for number in 0..<100 {
                group.addTask { (number, try? await pool.run { number * number }) }
            }
            for gate in gates { gate.open() }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for task in busy { try await task.value }
        #expect(results == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, $0 * $0) }))
    }

    @Test func reportsAFailureAsInternal() async {
        struct Broken: Error {}
        let pool = SigningPool(threads: 1)
        await #expect { try await pool.run { throw Broken() } } throws: { ($0 as? Fault)?.code == .internal }
    }

    @Test func refusesWorkAfterShutdown() async {
        let pool = SigningPool(threads: 1)
        pool.shutdown()
        await #expect { try await pool.run {} } throws: { ($0 as? Fault)?.code == .unavailable }
    }
}

/// Holds one thread until it is opened.
private final class Gate: Sendable {
    private let opened = DispatchSemaphore(value: 0)
    private let reached: AsyncStream<Void>
    private let announce: AsyncStream<Void>.Continuation

    init() { (reached, announce) = AsyncStream.makeStream() }

    func pass() {
        announce.finish()
        opened.wait()
    }

    func open() { opened.signal() }

    /// Returns once the thread waits at the gate.
    func isReached() async {
        for await _ in reached {}
    }
}
