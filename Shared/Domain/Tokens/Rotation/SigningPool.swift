public import Faults
internal import Foundation
internal import Glibc

/// A few threads that sign, so that no event loop ever waits for an RSA signature (about half a millisecond each).
///
/// While many wait, a thread signs several before it hands them over together. Their callers then share one waking of their event loop and one write
/// to their peer.
///
/// A signature that would have to wait too long is refused at once: its caller is better off with another copy, or later. Those that were taken up
/// before it get theirs in time. The threads give way to the event loops, so that refusals do not wait for signatures.
public final class SigningPool: Sendable {
    private let queue: Queue

    /// - Parameters:
    ///   - threads: 1 or more; more than there are cores gain nothing.
    ///   - waitingLimit: Signatures that may wait, 1 or more; a further one is refused as `overloaded`.
    ///   - longestWait: Above 0; one that would begin later, by what the latest ones took, is refused as well.
    ///   - leastRoom: How many may wait however long it takes: a few callers are never refused because a machine is slow. With more callers only an
    ///     eighth of it, until a second has passed without a refusal, and for 10 s at most.
    public init(threads: Int = 2, waitingLimit: Int = 256, longestWait: Duration = .milliseconds(25), leastRoom: Int = 64) {
        precondition(threads > 0 && waitingLimit > 0 && longestWait > .zero, "a signing pool needs a thread and a place to wait")
        let room = SigningRoom(limit: waitingLimit, longestWait: longestWait, leastRoom: leastRoom, threads: threads)
        let queue = Queue(threads: threads, room: room)
        self.queue = queue
        for _ in 1...threads {
            Thread.detachNewThread {
                // On Linux this sets the priority of the calling thread only. If it fails, the thread keeps its normal priority.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, SigningPool.niceness)
                queue.work()
            }
        }
    }

    /// A third of the weight of an event loop's thread.
    private static let niceness: Int32 = 5

    /// For callers that have other work to do before they sign.
    /// - Throws: `overloaded` when a signature would be refused now.
    public func requireRoom() throws(Fault) {
        if let refusal = queue.refusal { throw refusal }
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
    private let threads: Int
    private var room: SigningRoom
    private var jobs: [Job] = []
    private var isClosed = false

    init(threads: Int, room: SigningRoom) {
        self.threads = threads
        self.room = room
    }

    /// A job would not be taken now for this reason.
    var refusal: Fault? {
        condition.lock()
        defer { condition.unlock() }
        return refusalOfNext()
    }

    private func refusalOfNext() -> Fault? {
        if isClosed { return Fault(.unavailable, "The service is shutting down.", retryAfter: .seconds(1)) }
        if room.admits(waiting: jobs.count, at: DispatchTime.now().uptimeNanoseconds) { return nil }
        return Fault(.overloaded, "Too many signatures are under way.", retryAfter: .milliseconds(500))
    }

    /// - Returns: Why the job was not taken.
    func add(_ job: @escaping Job) -> Fault? {
        condition.lock()
        defer { condition.unlock() }
        if let refusal = refusalOfNext() { return refusal }
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
        var took: (each: Double, count: Int)?
        while let batch = next(took) {
            let start = DispatchTime.now().uptimeNanoseconds
            let deliveries = batch.map { $0() }
            took = (Double(DispatchTime.now().uptimeNanoseconds - start) / Double(batch.count), batch.count)
            for deliver in deliveries { deliver() }
        }
    }

    /// Half of this thread's share of the waiting jobs, so that batching delays no caller more than it saves.
    /// - Parameter time: The time that the thread's batch before took.
    private func next(_ time: (each: Double, count: Int)?) -> ArraySlice<Job>? {
        condition.lock()
        defer { condition.unlock() }
        if let time { room.note(each: time.each, count: time.count) }
        while jobs.isEmpty {
            if isClosed { return nil }
            condition.wait()
        }
        let batch = jobs.prefix(max(1, min(Self.largestBatch, jobs.count / (2 * threads))))
        jobs.removeFirst(batch.count)
        return batch
    }
}
