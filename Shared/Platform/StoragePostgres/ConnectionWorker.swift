internal import Faults
internal import Foundation
internal import Glibc
internal import Storage

/// A thread with a connection of its own. It takes work from a queue, a batch at a time, for as long as the queue is open. A connection that is lost
/// is made anew.
final class ConnectionWorker<Work: QueuedWork>: Sendable {
    /// Does work on the connection, and tells its senders.
    /// - Returns: The work that is left when the connection was lost.
    typealias BatchHandler = @Sendable (_ batch: [Work], _ connection: PostgresConnection) -> ConnectionLoss<Work>?

    private static var batch: Int { 64 }

    private let queue: WorkQueue<Work>
    private let heartbeat: Heartbeat
    private let handler: BatchHandler
    private let pipe = WakePipe()

    /// - Parameter heartbeat: Knows the server.
    init(_ queue: WorkQueue<Work>, heartbeat: Heartbeat, handler: @escaping BatchHandler) {
        self.queue = queue
        self.heartbeat = heartbeat
        self.handler = handler
    }

    /// - Parameters:
    ///   - whenTried: Called once, when the first connection is there, or cannot be made.
    ///   - whenEnded: Called when the queue is closed and all is done.
    func start(name: String, whenTried: @escaping @Sendable () -> Void, whenEnded: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            var pause = ReconnectPause()
            var tell: (@Sendable () -> Void)? = whenTried
            var doubt: CommitInDoubt<Work>?
            while !queue.isClosed || doubt != nil {
                do {
                    let connection = try heartbeat.connect()
                    let again = try doubt.map { try settle($0, on: connection) }
                    doubt = nil
                    queue.workerConnected()
                    tell?()
                    tell = nil
                    pause.reset()
                    doubt = serve(connection, first: again ?? [])
                } catch {
                    if let open = doubt, open.isOver {
                        CommitMark.count(.unknown, heartbeat.store)
                        for work in open.settle(.unknown) { work.fail(.storage(Self.error(error))) }
                        doubt = nil
                    }
                    for work in queue.workerFailed(Self.error(error)) { work.fail(.storage(Self.error(error))) }
                    tell?()
                    tell = nil
                    _ = pollOne(pipe.readEnd, CInt(POLLIN), pause.next())
                    pipe.clear()
                }
            }
            for work in queue.take(.max, else: pipe) { work.fail(.storage(DatabaseError.away)) }
            whenEnded()
        }
        thread.name = name
        thread.start()
    }

    /// Tells those who wait for a commit what became of it.
    /// - Returns: The work that is to run again.
    /// - Throws: `DatabaseError` while that is not known, and there is time to ask again.
    private func settle(_ doubt: CommitInDoubt<Work>, on connection: PostgresConnection) throws -> [Work] {
        let verdict = CommitMark.verdict(doubt.mark, on: connection)
        guard verdict != .unknown || doubt.isOver else { throw DatabaseError.away }
        CommitMark.count(verdict, heartbeat.store)
        return doubt.settle(verdict)
    }

    /// To be called after the queue was closed.
    func hurry() { pipe.wake() }

    /// Until the connection is lost, or the queue is closed and empty.
    /// - Parameter again: To be done before what waits.
    /// - Returns: The work at which the connection was lost, when nobody knows whether it is stored.
    private func serve(_ connection: PostgresConnection, first again: [Work]) -> CommitInDoubt<Work>? {
        var (loss, doubt): (DatabaseError?, CommitInDoubt<Work>?)
        var (again, wasResting) = (again, false)
        while loss == nil {
            if heartbeat.health.isElsewhere(connection) {
                loss = DatabaseError(.unavailable, "PostgreSQL: another server has taken the place of this one")
                for work in again { work.fail(.storage(DatabaseError.away)) }
                _ = pollOne(pipe.readEnd, CInt(POLLIN), .milliseconds(50))
                break
            }
            let batch = again.isEmpty ? queue.take(Self.batch, else: pipe) : again
            again = []
            if batch.isEmpty {
                if queue.isClosed { break }
                loss = rest(connection)
                wasResting = loss != nil
                continue
            }
            let wanted = batch.filter { work in
                let isThere = work.waiter.isThere
                if !isThere { work.fail(.storeIsNotAwaited) }
                return isThere
            }
            if !wanted.isEmpty, let lost = handler(wanted, connection) {
                (loss, doubt) = (lost.reason, lost.doubt)
                for work in lost.unfinished { work.fail(.storage(lost.reason)) }
            }
        }
        for work in queue.workerDisconnected(loss ?? .away, wasResting: wasResting) { work.fail(.storage(loss ?? .away)) }
        return doubt
    }

    /// Waits for work, and for the server's farewell.
    /// - Returns: Why the connection is lost.
    private func rest(_ connection: PostgresConnection) -> DatabaseError? {
        var watched = [
            pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0), pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&watched, 2, -1)
        if count > 0, watched[0].revents != 0 { pipe.clear() }
        queue.removeIdle(pipe)
        if count > 0, watched[1].revents != 0 { connection.giveUp() }
        return connection.isUsable ? nil : connection.lost().databaseError()
    }

    private static func error(_ error: any Error) -> DatabaseError {
        (error as? PostgresError)?.databaseError() ?? error as? DatabaseError ?? DatabaseError(.other, "\(error)")
    }
}

/// The work that a worker takes from callers.
protocol QueuedWork: Sendable {
    /// States whether a caller waits for it still.
    var waiter: Waiter { get }
    /// Tells the caller that it was not done.
    func fail(_ fault: Fault)
}

/// A connection was lost at work.
struct ConnectionLoss<Work: Sendable>: Sendable {
    let reason: DatabaseError
    /// Whose senders were told nothing, and of which nothing is stored.
    let unfinished: [Work]
    let doubt: CommitInDoubt<Work>?

    init(_ error: any Error, unfinished: [Work], doubt: CommitInDoubt<Work>? = nil) {
        reason = (error as? PostgresError)?.databaseError() ?? .away
        self.unfinished = unfinished
        self.doubt = doubt
    }
}

/// A worker waits this long before the next try: soon at first, then twice a second, never all copies at one moment.
struct ReconnectPause {
    private var last: Duration = .zero

    mutating func reset() { last = .zero }

    mutating func next() -> Duration {
        last = min(max(last * 2, .milliseconds(50)), .milliseconds(500))
        return last * Double.random(in: 0.5...1)
    }
}
