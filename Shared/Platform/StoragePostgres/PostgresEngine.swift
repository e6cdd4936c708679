internal import Dispatch
internal import Faults
public import Storage

/// A schema of a PostgreSQL server, which copies of the service on other hosts use too.
///
/// Statements that are known whole go by workers; transactions with Swift between their statements have a connection and a thread of their own
/// (Shared/Documents/Decisions/0058-give-each-connection-a-thread.md).
final class PostgresEngine: StoreEngine {
    let place: String
    var system: String { "postgresql" }
    let address: String?
    /// Nobody tells of commits on other hosts.
    var changes: (any StoreChanges)? { nil }
    var pipeline: (any StatementPipeline)? { self }
    private let looks: WorkQueue<Look>
    private let plans: WorkQueue<PlannedWrite>
    private let sessions: SessionPool
    private let heartbeat: Heartbeat
    private let certificates: ServerCertificates
    private let hurry: @Sendable () -> Void
    private let ended = DispatchGroup()
    private let refused: @Sendable () -> Void

    /// A worker that gets no answer for so long gives up its connection.
    private static let timeout: Duration = .seconds(3)

    /// Connects, and brings the schema up to date. Blocks until that is done. Nothing is answered before a heartbeat is committed: until then `trouble` says why.
    /// - Throws: `StoreError` naming the server, at once.
    init(_ options: PostgresOptions, name: String, steps: [Migration], limits: StoreLimits, metrics: StoreMetrics) throws(StoreError) {
        place = options.place
        address = options.hosts.map(\.name).joined(separator: ",")
        try Self.prepare(options, name: name, steps: steps)
        let heartbeat = Heartbeat(ServerChoice(options, program: name), store: name)
        self.heartbeat = heartbeat
        certificates = ServerCertificates(options)
        let looks = WorkQueue<Look>(most: limits.waitingReads)
        let plans = WorkQueue<PlannedWrite>(most: limits.waitingWrites)
        (self.looks, self.plans) = (looks, plans)
        sessions = SessionPool(most: options.interactive, limits: limits, metrics: metrics, heartbeat: heartbeat)
        refused = { metrics.refused.increment() }
        let commit = PlanCommit(metrics: metrics, timeout: Self.timeout)
        let readers = (0..<options.readConnections).map { _ in
            ConnectionWorker(looks, heartbeat: heartbeat) { Look.run($0, on: $1, health: heartbeat.health, timeout: Self.timeout) }
        }
        let writers = (0..<options.writeConnections).map { _ in ConnectionWorker(plans, heartbeat: heartbeat) { commit($0, on: $1) } }
        hurry = {
            for worker in readers { worker.hurry() }
            for worker in writers { worker.hurry() }
        }
        let tried = DispatchGroup()
        tried.enter()
        ended.enter()
        heartbeat.start { [tried] in
            tried.leave()
        } whenEnded: { [ended] in
            ended.leave()
        }
        for worker in readers { Self.start(worker, "store-reads", tried, ended) }
        for worker in writers { Self.start(worker, "store-writes", tried, ended) }
        tried.wait()
        certificates.start()
    }

    deinit {
        looks.close()
        plans.close()
        sessions.close {}
        hurry()
        heartbeat.stop()
        certificates.stop()
    }

    private static func start<Work>(_ worker: ConnectionWorker<Work>, _ name: String, _ tried: DispatchGroup, _ ended: DispatchGroup) {
        tried.enter()
        ended.enter()
        worker.start(name: name) {
            tried.leave()
        } whenEnded: {
            ended.leave()
        }
    }

    /// The schema, on a connection of its own.
    private static func prepare(_ options: PostgresOptions, name: String, steps: [Migration]) throws(StoreError) {
        do {
            let connection = try PostgresConnection.open(options, program: name)
            try PostgresSchema(name: options.schema, steps: steps, connection: connection, place: options.place).bringUpToDate()
        } catch let error as StoreError {
            throw error
        } catch let error as PostgresError {
            throw StoreError(error, at: options.place)
        } catch {
            throw StoreError(file: options.place, reason: "\(error)")
        }
    }

    var waitingWrites: Int { plans.waiting + sessions.waiting }

    // While nothing is committed workers lose their connections over and over; that is not the reason.
    var trouble: String? {
        (heartbeat.commitWait ?? looks.trouble ?? plans.trouble ?? heartbeat.health.lacking)?.description ?? heartbeat.health.clock.trouble
    }

    var warning: String? { heartbeat.advice }

    func lease(_ name: String) async -> Lease? { await heartbeat.lease(name) }

    func submit(_ write: PendingWrite) throws(Fault) {
        try requireServer()
        try counted { () throws(Fault) in try sessions.submit(.write(write)) }
    }

    func read(_ waiter: Waiter, _ job: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        do throws(Fault) {
            try requireServer()
            try counted { () throws(Fault) in try sessions.submit(.read(waiter, job)) }
        } catch {
            job(.failure(error))
        }
    }

    func leastLevel(_ database: Database) throws -> Int { try database.value(PostgresSchema.leastLevel) ?? 0 }

    func bytes(_ database: Database) throws -> Int {
        try database.value(
            """
            SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS BIGINT) FROM pg_class
            WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r'
            """) ?? 0
    }

    func close() async {
        looks.close()
        plans.close()
        await withCheckedContinuation { continuation in sessions.close { continuation.resume() } }
        hurry()
        heartbeat.stop()
        certificates.stop()
        await withCheckedContinuation { continuation in ended.notify(queue: .global()) { continuation.resume() } }
    }

    /// While the workers have no connection, or the server commits nothing, nobody waits for it.
    private func requireServer() throws(Fault) {
        if let trouble = plans.trouble { throw .storage(trouble) }
        try requireHeartbeat()
    }

    private func requireHeartbeat() throws(Fault) {
        if let trouble = heartbeat.health.trouble { throw .storage(trouble) }
    }

    private func counted(_ body: () throws(Fault) -> Void) throws(Fault) {
        do throws(Fault) {
            try body()
        } catch {
            if error.code == .overloaded { refused() }
            throw error
        }
    }
}

extension PostgresEngine: StatementPipeline {
    func look(
        _ statement: Statement, _ arguments: Arguments, _ waiter: Waiter,
        _ deliver: @escaping @Sendable (Result<any StoredRows, Fault>) -> Void
    ) throws(Fault) {
        try requireHeartbeat()
        try counted { () throws(Fault) in
            try looks.submit(Look(statement: statement, arguments: arguments, waiter: waiter, deliver: deliver))
        }
    }

    func commit(_ plan: Plan, _ waiter: Waiter, _ deliver: @escaping @Sendable (Result<[any StoredRows]?, Fault>) -> Void) throws(Fault) {
        try requireHeartbeat()
        try counted { () throws(Fault) in try plans.submit(PlannedWrite(plan: plan, waiter: waiter, deliver: deliver)) }
    }
}

extension Store {
    /// Connects to a PostgreSQL server and brings the schema up to date. Blocks until that is done: for the start of a program.
    /// - Parameters:
    ///   - options: Where the server is.
    ///   - name: Label of the metrics, for example `authentication`.
    ///   - steps: The steps of the schema, in PostgreSQL's words, all that this version knows, oldest first.
    ///   - limits: Bounds of queues.
    /// - Throws: `StoreError` naming the server when it is away, takes no writes, lets nobody in, is not safe to write to, or has a schema that is newer than
    ///   this program. It waits for nothing of that; `retryPause` says whether it is worth trying again.
    public convenience init(postgres options: PostgresOptions, name: String, steps: [Migration], limits: StoreLimits = StoreLimits())
        throws(StoreError)
    {
        let metrics = StoreMetrics(store: name)
        let engine = try PostgresEngine(options, name: name, steps: steps, limits: limits, metrics: metrics)
        self.init(engine: engine, migrations: steps, limits: limits, metrics: metrics)
    }
}

extension StoreError {
    /// - Parameter place: The place of the server.
    init(_ error: PostgresError, at place: String) { self.init(file: place, reason: error.advice, retryPause: error.retryPause) }
}

/// A statement that only reads, with who waits for it.
struct Look: QueuedWork {
    let statement: Statement
    let arguments: Arguments
    let waiter: Waiter
    let deliver: @Sendable (Result<any StoredRows, Fault>) -> Void

    func fail(_ fault: Fault) { deliver(.failure(fault)) }

    /// Runs statements of one flush. Statements behind one that fails were not run, and go once more.
    static func run(_ looks: [Look], on connection: PostgresConnection, health: ServerHealth, timeout: Duration) -> ConnectionLoss<Look>? {
        var left = looks[...]
        while !left.isEmpty {
            let outcomes: [PostgresConnection.Outcome]
            do {
                outcomes = try connection.run(left.map { PostgresConnection.Command($0.statement, $0.arguments) }, timeout: timeout)
            } catch {
                return ConnectionLoss(error, unfinished: Array(left))
            }
            // Asked when the answers are there: they may be those of a server that another one has replaced meanwhile.
            if let trouble = health.trouble(with: connection) {
                for look in left { look.deliver(.failure(.storage(trouble))) }
                return nil
            }
            for outcome in outcomes {
                guard let look = left.first else { return nil }
                switch outcome {
                case .rows(let rows): look.deliver(.success(rows))
                case .failed(let error): look.deliver(.failure(.storage(error.databaseError(look.statement.postgres))))
                case .skipped: continue
                }
                left = left.dropFirst()
            }
        }
        return nil
    }
}
