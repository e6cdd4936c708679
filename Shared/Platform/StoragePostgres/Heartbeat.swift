internal import CoreMetrics
internal import Foundation
internal import Glibc
internal import Storage
internal import Synchronization

/// A copy's heartbeat: a thread with a connection of its own commits a row about every second. The answer says that the server can commit, which
/// server it is, and what its clock says. The same connection keeps the leases that this copy has.
final class Heartbeat: Sendable {
    private static let interval: Duration = .seconds(1)
    /// A transaction of this one's own must not be in the way of those that others run.
    private static let begin: Statement = "BEGIN ISOLATION LEVEL READ COMMITTED"
    /// The server's clock, in milliseconds.
    static let clock = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

    let health = ServerHealth()
    /// Label of the metrics.
    let store: String
    private let servers: ServerChoice
    private let holder = UUID().uuidString
    private let leases: Leases
    private let pipe = WakePipe()
    private let isStopping = Atomic(false)
    private let offset: Gauge
    private let waitingCommits: Gauge
    private let findings = Mutex(Findings())

    /// The findings of the heartbeats about the server.
    private struct Findings {
        /// The reason why its commits wait; `nil`: they do not.
        var wait: DatabaseError?
        var standbyAdvice: String?
    }

    init(_ servers: ServerChoice, store: String) {
        self.servers = servers
        self.store = store
        leases = Leases(holder: holder)
        offset = Gauge(label: "boxoffice_storage_clock_offset_seconds", dimensions: [("store", store)])
        waitingCommits = Gauge(label: "boxoffice_storage_commits_wait_for_standby", dimensions: [("store", store)])
    }

    /// The server, which answers, commits nothing for this reason; `nil`: it commits, or does not answer.
    var commitWait: DatabaseError? { findings.withLock { $0.wait } }

    /// A warning for an operator though the store can be used; `nil`: nothing.
    var advice: String? { health.clock.advice ?? findings.withLock { $0.standbyAdvice } }

    /// For everybody who needs a connection. Blocks.
    func connect() throws -> PostgresConnection {
        let connection = try servers.connect()
        // A server that is new to this copy counts once it has taken a heartbeat.
        if health.trouble(with: connection) != nil { pipe.wake() }
        return connection
    }

    func lease(_ name: String) async -> Lease? {
        if let known = leases.known(name) { return known }
        return await withCheckedContinuation { continuation in
            leases.ask(name) { continuation.resume(returning: $0) }
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
            var standbys = StandbyGauges(store: store, role: servers.user)
            while !isStopping.load(ordering: .acquiring) {
                if connection?.isUsable == false { connection = nil }
                var isReached = false
                do {
                    let live = try connection ?? opened()
                    (connection, isReached) = (live, true)
                    // First: a server that lost them takes no heartbeat.
                    try standbys.look(on: live, isMine: leases.had(StandbyGauges.lease))
                    note { $0.standbyAdvice = standbys.advice }
                    try beat(live)
                    tell?()
                    tell = nil
                    pause.reset()
                    try leases.keep(on: live)
                    rest(Self.interval, live)
                } catch {
                    if connection?.isUsable != true { connection = nil }
                    if !isReached {
                        standbys.forget()
                        note { $0 = Findings() }
                        waitingCommits.record(0)
                    }
                    missed(error, connection)
                    tell?()
                    tell = nil
                    leases.refuseAll()
                    rest(pause.next(), nil)
                }
            }
            if let connection, connection.isUsable { leases.giveBack(on: connection) }
            leases.close()
            whenEnded()
        }
        thread.name = "store-heart"
        thread.start()
    }

    /// Ends the thread, which gives its leases back.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        pipe.wake()
    }

    private func note(_ change: (inout Findings) -> Void) { findings.withLock { change(&$0) } }

    /// Opens a connection, and ends heartbeats of this copy that hang in the server: one that waits for a standby that is gone would stay there
    /// for ever. Its wait is the reason why nothing is committed. A session that is idle hangs nowhere; behind a pooler it may be another client's
    /// by now.
    private func opened() throws -> PostgresConnection {
        let connection = try servers.connect(part: "heart-\(holder.prefix(8))")
        let outcomes = try connection.run(
            [
                PostgresConnection.Command(
                    """
                    SELECT CASE WHEN state = 'active' THEN coalesce(wait_event, '') ELSE '' END,
                        coalesce(current_setting('synchronous_standby_names', true), ''), pg_terminate_backend(pid)
                    FROM pg_stat_activity
                    WHERE application_name = current_setting('application_name') AND usename = current_user AND pid <> pg_backend_pid()
                        AND state IS DISTINCT FROM 'idle'
                    """)
            ], timeout: ServerHealth.trust)
        var wait: DatabaseError?
        if case .rows(let rows) = outcomes.first, let (event, names) = try rows.first({ ($0.next() as String, $0.next() as String) }) {
            let isStandby = event == Self.standbyWait
            if isStandby { waitingCommits.record(1) }
            wait = isStandby ? .noStandby(names) : event.isEmpty ? nil : .slowCommit("waits for \(event)")
        }
        note { $0.wait = wait }
        if let wait { health.missed(wait, isLost: true) }
        return connection
    }

    /// As the server calls it (postgresql.org/docs/current/monitoring-stats.html, wait events).
    private static let standbyWait = "SyncRep"

    private func beat(_ connection: PostgresConnection) throws {
        let (began, asked) = (ContinuousClock.now, WallTime.milliseconds)
        let identity = connection.server.isEmpty ? "0" : PostgresConnection.serverStart
        let upsert: Statement = """
            INSERT INTO heartbeat (holder, beat_at_ms) VALUES (?, \(Self.clock)) ON CONFLICT (holder) DO UPDATE SET beat_at_ms = excluded.beat_at_ms
            RETURNING beat_at_ms, \(identity)
            """
        // Where another server may be there by now, this one gets less time.
        let timeout: Duration = servers.areSeveral ? .seconds(2) : ServerHealth.trust
        let outcomes: [PostgresConnection.Outcome]
        do {
            // The answers before the last one come by themselves: they tell a server that commits nothing from one that is silent.
            outcomes = try connection.run(
                [.init(Self.begin), .init(upsert, [holder], isFlushed: true), .init("COMMIT")], timeout: timeout)
        } catch {
            guard (error as? PostgresError)?.isSilence == true else { throw error }
            servers.silent(connection.host)
            guard connection.answered.count == 2 else { throw error }
            throw commitWait ?? .slowCommit("did not end a commit within \(timeout)")
        }
        guard case .rows(let row) = outcomes[1], case .rows(let end) = outcomes[2], end.tag == "COMMIT" else {
            throw try failure(outcomes, connection)
        }
        let found = try row.first { ($0.next() as Int64, $0.next() as Int64) }
        guard let (server, start) = found else { throw PostgresError.lost("no heartbeat came back") }
        let offset = ClockOffset(asked: asked, answered: WallTime.milliseconds, server: server)
        if !connection.server.isEmpty { connection.server = "\(start)" }
        self.offset.record(Double(offset.milliseconds) / 1000)
        waitingCommits.record(0)
        note { $0.wait = nil }
        servers.alive(connection.host)
        health.beat(connection.server, began: began, clock: offset)
    }

    private func failure(_ outcomes: [PostgresConnection.Outcome], _ connection: PostgresConnection) throws -> PostgresError {
        _ = try connection.run([.init("ROLLBACK")], timeout: ServerHealth.trust)
        for case .failed(let error) in outcomes { return error }
        return .lost("the server did not commit")
    }

    private func missed(_ error: any Error, _ connection: PostgresConnection?) {
        let reason = (error as? PostgresError)?.databaseError() ?? error as? DatabaseError ?? DatabaseError(.other, "\(error)")
        health.missed(reason, isLost: connection == nil)
    }

    /// Until the next heartbeat is due, somebody asks for something, or the server says that it goes.
    private func rest(_ time: Duration, _ connection: PostgresConnection?) {
        var watched = [pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)]
        if let connection { watched.append(pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)) }
        let count = poll(&watched, nfds_t(watched.count), CInt(time.wholeMilliseconds))
        if count > 0, watched[0].revents != 0 { pipe.clear() }
        if count > 0, let connection, watched[1].revents != 0 {
            connection.takeNotice()
            if !connection.isUsable { health.missed(connection.lost().databaseError(), isLost: true) }
        }
    }
}

extension DatabaseError {
    /// - Parameter names: `synchronous_standby_names`.
    fileprivate static func noStandby(_ names: String) -> DatabaseError {
        DatabaseError(.unavailable, "PostgreSQL: the server answers, and its commits wait for a standby: none of '\(names)' confirms them")
    }

    /// - Parameter words: The server's activity.
    fileprivate static func slowCommit(_ words: String) -> DatabaseError {
        DatabaseError(.unavailable, "PostgreSQL: the server answers, and commits nothing: it \(words)")
    }
}
