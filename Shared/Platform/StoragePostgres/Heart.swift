internal import CoreMetrics
internal import Foundation
internal import Glibc
internal import Storage
internal import Synchronization

/// A copy's sign of life: a thread with a connection of its own commits a row about every second, whose answer says that the server can commit, which server it is, and what its
/// clock says. The same connection keeps the duties that this copy has.
final class Heart: Sendable {
    private static let interval: Duration = .seconds(1)
    /// A transaction of this one's own must not be in the way of those that others run.
    private static let begin: Statement = "BEGIN ISOLATION LEVEL READ COMMITTED"
    /// The server's clock, in milliseconds.
    static let clock = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

    let pulse = Pulse()
    /// Label of the metrics.
    let store: String
    private let servers: ServerChoice
    private let holder = UUID().uuidString
    private let duties: Duties
    private let pipe = WakePipe()
    private let isStopping = Atomic(false)
    private let offset: Gauge

    init(_ servers: ServerChoice, store: String) {
        self.servers = servers
        self.store = store
        duties = Duties(holder: holder)
        offset = Gauge(label: "boxoffice_storage_clock_offset_seconds", dimensions: [("store", store)])
    }

    /// For everybody who needs a connection. Blocks.
    func connect() throws -> PostgresConnection {
        let connection = try servers.connect()
        // A server that is new to this copy counts once it has taken a heartbeat.
        if pulse.trouble(with: connection) != nil { pipe.wake() }
        return connection
    }

    func duty(_ name: String) async -> Duty? {
        if let known = duties.known(name) { return known }
        return await withCheckedContinuation { continuation in
            duties.ask(name) { continuation.resume(returning: $0) }
            pipe.wake()
        }
    }

    /// - Parameters:
    ///   - whenTried: Called once, when the first heartbeat is committed, or cannot be.
    ///   - whenEnded: Called when all is done.
    func start(whenTried: @escaping @Sendable () -> Void, whenEnded: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            var tell: (@Sendable () -> Void)? = whenTried
            var pause = ReconnectPause()
            var connection: PostgresConnection?
            while !isStopping.load(ordering: .acquiring) {
                if connection?.isUsable == false { connection = nil }
                do {
                    let live = try connection ?? opened()
                    connection = live
                    try beat(live)
                    tell?()
                    tell = nil
                    pause.reset()
                    try duties.keep(on: live)
                    rest(Self.interval, live)
                } catch {
                    if connection?.isUsable != true { connection = nil }
                    missed(error, connection)
                    tell?()
                    tell = nil
                    duties.refuseAll()
                    rest(pause.next(), nil)
                }
            }
            if let connection, connection.isUsable { duties.giveBack(on: connection) }
            duties.close()
            whenEnded()
        }
        thread.name = "store-heart"
        thread.start()
    }

    /// Ends the thread, which gives its duties back.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        pipe.wake()
    }

    /// A connection by which no heartbeat of this copy hangs in the server: one that waits for a standby that is gone would stay there for ever.
    private func opened() throws -> PostgresConnection {
        let connection = try servers.connect(part: "heart-\(holder.prefix(8))")
        _ = try connection.run(
            [
                PostgresConnection.Command(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = current_setting('application_name') AND usename = current_user AND pid <> pg_backend_pid()
                    """)
            ], timeout: Pulse.trust)
        return connection
    }

    private func beat(_ connection: PostgresConnection) throws {
        let (began, asked) = (ContinuousClock.now, WallTime.milliseconds)
        let identity = connection.server.isEmpty ? "0" : PostgresConnection.serverStart
        let upsert: Statement = """
            INSERT INTO heartbeat (holder, beat_at_ms) VALUES (?, \(Self.clock)) ON CONFLICT (holder) DO UPDATE SET beat_at_ms = excluded.beat_at_ms
            RETURNING beat_at_ms, \(identity)
            """
        // Where another server may be there by now, this one gets less time.
        let timeout: Duration = servers.areSeveral ? .seconds(2) : Pulse.trust
        let outcomes: [PostgresConnection.Outcome]
        do {
            outcomes = try connection.run(
                [.init(Self.begin), .init(upsert, [holder]), .init("COMMIT")], timeout: timeout)
        } catch {
            if (error as? PostgresError)?.isSilence == true { servers.silent(connection.host) }
            throw error
        }
        guard case .rows(let row) = outcomes[1], case .rows(let end) = outcomes[2], end.tag == "COMMIT" else {
            throw try failure(outcomes, connection)
        }
        let found = try row.first { ($0.next() as Int64, $0.next() as Int64) }
        guard let (server, start) = found else { throw PostgresError.lost("no heartbeat came back") }
        let offset = ClockOffset(asked: asked, answered: WallTime.milliseconds, server: server)
        if !connection.server.isEmpty { connection.server = "\(start)" }
        self.offset.record(Double(offset.milliseconds) / 1000)
        servers.alive(connection.host)
        pulse.beat(connection.server, began: began, clock: offset)
    }

    private func failure(_ outcomes: [PostgresConnection.Outcome], _ connection: PostgresConnection) throws -> PostgresError {
        _ = try connection.run([.init("ROLLBACK")], timeout: Pulse.trust)
        for case .failed(let error) in outcomes { return error }
        return .lost("the server did not commit")
    }

    private func missed(_ error: any Error, _ connection: PostgresConnection?) {
        let reason = (error as? PostgresError)?.databaseError() ?? error as? DatabaseError ?? DatabaseError(.other, "\(error)")
        pulse.missed(reason, isLost: connection == nil)
    }

    /// Until the next heartbeat is due, somebody asks for something, or the server says that it goes.
    private func rest(_ time: Duration, _ connection: PostgresConnection?) {
        var watched = [pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)]
        if let connection { watched.append(pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)) }
        let count = poll(&watched, nfds_t(watched.count), CInt(time.wholeMilliseconds))
        if count > 0, watched[0].revents != 0 { pipe.clear() }
        if count > 0, let connection, watched[1].revents != 0 {
            connection.takeNotice()
            if !connection.isUsable { pulse.missed(connection.lost().databaseError(), isLost: true) }
        }
    }
}
