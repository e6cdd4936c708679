internal import Foundation
internal import Glibc
internal import Storage
internal import Synchronization

/// A thread with a connection of its own, which takes work from a queue, a batch at a time, for as long as the queue is open. A connection that is lost is
/// made anew.
final class Lane<Work: Sendable>: Sendable {
    /// Does work on the connection, and tells its senders.
    /// - Returns: What is left when the connection was lost.
    typealias Duty = @Sendable (_ batch: [Work], _ connection: PostgresConnection) -> LaneLoss<Work>?

    private static var batch: Int { 64 }

    private let queue: LaneQueue<Work>
    private let connect: @Sendable () throws -> PostgresConnection
    private let duty: Duty
    private let abandon: @Sendable (Work, DatabaseError) -> Void
    private let pipe = WakePipe()
    private let isClosing = Atomic(false)

    /// - Parameters:
    ///   - connect: Blocks until there is a connection.
    ///   - abandon: Tells a sender that its work was not done.
    init(
        _ queue: LaneQueue<Work>, connect: @escaping @Sendable () throws -> PostgresConnection, duty: @escaping Duty,
        abandon: @escaping @Sendable (Work, DatabaseError) -> Void
    ) {
        self.queue = queue
        self.connect = connect
        self.duty = duty
        self.abandon = abandon
    }

    /// - Parameters:
    ///   - whenTried: Called once, when the first connection is there, or cannot be made.
    ///   - whenEnded: Called when the queue is closed and all is done.
    func start(name: String, whenTried: @escaping @Sendable () -> Void, whenEnded: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            var pause = ReconnectPause()
            var tell: (@Sendable () -> Void)? = whenTried
            while !queue.isClosed {
                do {
                    let connection = try connect()
                    queue.laneIsUp()
                    tell?()
                    tell = nil
                    pause.reset()
                    serve(connection)
                } catch {
                    queue.laneFailed(Self.error(error))
                    tell?()
                    tell = nil
                    _ = pollOne(pipe.readEnd, CInt(POLLIN), pause.next())
                    pipe.clear()
                }
            }
            for work in queue.take(.max, else: pipe) { abandon(work, .away) }
            whenEnded()
        }
        thread.name = name
        thread.start()
    }

    /// To be called after the queue was closed.
    func hurry() { pipe.wake() }

    /// Until the connection is lost, or the queue is closed and empty.
    private func serve(_ connection: PostgresConnection) {
        var loss: DatabaseError?
        while loss == nil {
            let batch = queue.take(Self.batch, else: pipe)
            if batch.isEmpty {
                if queue.isClosed { break }
                loss = rest(connection)
                continue
            }
            if let lost = duty(batch, connection) {
                loss = lost.reason
                for work in lost.unfinished { abandon(work, lost.reason) }
            }
        }
        for work in queue.laneIsDown(loss ?? .away) { abandon(work, loss ?? .away) }
    }

    /// Waits for work, and for the server's farewell.
    /// - Returns: Why the connection is lost.
    private func rest(_ connection: PostgresConnection) -> DatabaseError? {
        var watched = [
            pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0), pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&watched, 2, -1)
        if count > 0, watched[0].revents != 0 { pipe.clear() }
        queue.isNotIdle(pipe)
        if count > 0, watched[1].revents != 0 { connection.takeNotice() }
        return connection.isUsable ? nil : connection.lost().databaseError()
    }

    private static func error(_ error: any Error) -> DatabaseError {
        (error as? PostgresError)?.databaseError() ?? error as? DatabaseError ?? DatabaseError(.other, "\(error)")
    }
}

/// A connection was lost at work.
struct LaneLoss<Work: Sendable>: Sendable {
    let reason: DatabaseError
    /// Whose senders were told nothing.
    let unfinished: [Work]

    init(_ error: any Error, unfinished: [Work]) {
        reason = (error as? PostgresError)?.databaseError() ?? .away
        self.unfinished = unfinished
    }
}

/// How long to wait before the next try: soon at first, then twice a second, never all copies at one moment.
struct ReconnectPause {
    private var last: Duration = .zero

    mutating func reset() { last = .zero }

    mutating func next() -> Duration {
        last = min(max(last * 2, .milliseconds(50)), .milliseconds(500))
        return last * Double.random(in: 0.5...1)
    }
}
