internal import Faults
internal import Glibc
internal import Storage
internal import Synchronization

/// Work that waits for one of several workers. A worker that is free takes all of it: what comes while all are busy goes together.
final class WorkQueue<Work: Sendable>: Sendable {
    private struct State {
        var waiting: [Work] = []
        /// The wake pipes of workers that have nothing to do.
        var idle: [WakePipe] = []
        /// Workers that have a connection.
        var connected = 0
        /// The last worker lost its connection, or could not get one, for this reason.
        var trouble: DatabaseError?
        /// The server ended the last connection while nothing was under way, and a worker tries for the first time to get another one.
        var isReturning = false
        /// A worker found no server, and none has got an answer since. What others have sent may be at a process of a dead server that ends only when its disk is done.
        var isUnreachable = false
        var isClosed = false

        /// - Returns: The work that no worker will take soon.
        mutating func abandoned() -> [Work] {
            guard isStuck else { return [] }
            defer { waiting = [] }
            return waiting
        }

        /// Nothing can be done for this reason.
        var obstacle: DatabaseError? { isStuck ? trouble ?? .away : nil }

        private var isStuck: Bool { connected == 0 ? !isReturning : isUnreachable && idle.isEmpty }
    }

    private let state = Mutex(State())
    private let most: Int

    /// - Parameter most: Work that may wait.
    init(most: Int) { self.most = most }

    var waiting: Int { state.withLock { $0.waiting.count } }
    var trouble: DatabaseError? { state.withLock { $0.obstacle } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// - Throws: `overloaded` when too much waits, `unavailable` when no worker has a connection, when one finds no server and all others are busy, or after `close`.
    func submit(_ work: Work) throws(Fault) {
        let verdict = state.withLock { state -> Result<WakePipe?, Fault> in
            if state.isClosed { return .failure(.storeIsClosed) }
            if let obstacle = state.obstacle { return .failure(.storage(obstacle)) }
            if state.waiting.count >= most { return .failure(.storeIsBusy) }
            state.waiting.append(work)
            return .success(state.idle.popLast())
        }
        try verdict.get()?.wake()
    }

    /// For a worker that is free, whose connection lives.
    /// - Returns: The waiting work, at most so much; nothing: the worker is to wait until it is woken.
    func take(_ count: Int, else idle: WakePipe) -> [Work] {
        state.withLock { state in
            state.isUnreachable = false
            guard !state.waiting.isEmpty else {
                if !state.isClosed { state.idle.append(idle) }
                return []
            }
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }

    /// A worker goes on without having been woken.
    func removeIdle(_ pipe: WakePipe) { state.withLock { state in state.idle.removeAll { $0 === pipe } } }

    func workerConnected() {
        state.withLock { state in
            state.connected += 1
            state.isReturning = false
            state.isUnreachable = false
        }
    }

    /// A worker could not get a connection.
    /// - Returns: The work that nobody waits for now.
    func workerFailed(_ error: DatabaseError) -> [Work] {
        state.withLock { state in
            state.trouble = error
            state.isReturning = false
            // Where a server only has no room for one more connection, the others go on.
            if error.kind == .unavailable { state.isUnreachable = true }
            return state.abandoned()
        }
    }

    /// A worker lost its connection.
    /// - Parameter wasResting: Nothing was under way: the server, or a pooler, ends connections that are idle, and takes others.
    /// - Returns: The work that nobody waits for now.
    func workerDisconnected(_ error: DatabaseError, wasResting: Bool) -> [Work] {
        state.withLock { state in
            state.connected -= 1
            state.trouble = error
            if state.connected == 0 { state.isReturning = wasResting }
            return state.abandoned()
        }
    }

    /// Refuses further work; workers end when they have done what waits.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for pipe in idle { pipe.wake() }
    }
}

extension DatabaseError {
    static let away = DatabaseError(.unavailable, "PostgreSQL: no connection")
}

/// Wakes a thread that waits for a descriptor.
final class WakePipe: Sendable {
    let readEnd: CInt
    private let writeEnd: CInt

    init() {
        var ends: [CInt] = [-1, -1]
        // Without descriptors left nothing of the program works.
        precondition(pipe(&ends) == 0, "no descriptors are left: \(String(cString: strerror(errno)))")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func wake() {
        var octet: UInt8 = 1
        // A full pipe wakes as well.
        _ = write(writeEnd, &octet, 1)
    }

    func clear() {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { octets in
            while read(readEnd, octets.baseAddress, octets.count) == octets.count {}
        }
    }
}
