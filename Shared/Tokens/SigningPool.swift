public import Faults
internal import Foundation

/// A few threads that sign, so that no event loop ever waits for an RSA signature (about half a millisecond each).
///
/// While many wait, a thread signs several before it hands them over together: their callers then share one waking of their event loop and
/// one write to their peer.
public final class SigningPool: Sendable {
    private let queue: Queue

    /// - Parameters:
    ///   - threads: 1 or more; more than there are cores gain nothing.
    ///   - waitingLimit: Signatures that may wait, 1 or more; a further one is refused as `overloaded`.
    public init(threads: Int = 2, waitingLimit: Int = 256) {
        precondition(threads > 0 && waitingLimit > 0, "a signing pool needs a thread and a place to wait")
        let queue = Queue(limit: waitingLimit, threads: threads)
        self.queue = queue
        for _ in 1...threads { Thread.detachNewThread { queue.work() } }
    }

    deinit { queue.close() }

    /// Runs `sign` on one of the threads.
    /// - Throws: `overloaded` when too many wait, `internal` when `sign` fails, `unavailable` after `shutdown`.
    public func run<Value: Sendable>(_ sign: @escaping @Sendable () throws -> Value) async throws(Fault) -> Value {
        let result: Result<Value, Fault> = await withCheckedContinuation { continuation in
            let job: Queue.Job = {
                let signed = Result { try sign() }.mapError { Fault.unexpected($0) }
                return { continuation.resume(returning: signed) }
            }
            if let refusal = queue.add(job) { continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    /// Refuses further work; what waits is still done.
    public func shutdown() { queue.close() }
}

/// Jobs between their callers and the threads.
///
/// `@unchecked Sendable`: everything that changes is touched only while `condition` is locked.
private final class Queue: @unchecked Sendable {
    /// Does the work, and returns what tells the caller.
    typealias Job = @Sendable () -> @Sendable () -> Void

    /// The most that a thread takes at once.
    private static let largestBatch = 8

    private let condition = NSCondition()
    private let limit: Int
    private let threads: Int
    private var jobs: [Job] = []
    private var isClosed = false

    init(limit: Int, threads: Int) {
        self.limit = limit
        self.threads = threads
    }

    /// - Returns: Why the job was not taken.
    func add(_ job: @escaping Job) -> Fault? {
        condition.lock()
        defer { condition.unlock() }
        if isClosed { return Fault(.unavailable, "The service is shutting down.", retryAfter: .seconds(1)) }
        if jobs.count >= limit { return Fault(.overloaded, "Too many signatures are under way.", retryAfter: .milliseconds(500)) }
        jobs.append(job)
        condition.signal()
        return nil
    }

    func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        condition.broadcast()
    }

    /// The life of one thread: until the queue is closed and empty.
    func work() {
        while let batch = next() {
            let deliveries = batch.map { $0() }
            for deliver in deliveries { deliver() }
        }
    }

    /// Half of this thread's share of what waits, so that nobody waits for more than is won.
    private func next() -> ArraySlice<Job>? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty {
            if isClosed { return nil }
            condition.wait()
        }
        let batch = jobs.prefix(max(1, min(Self.largestBatch, jobs.count / (2 * threads))))
        jobs.removeFirst(batch.count)
        return batch
    }
}
