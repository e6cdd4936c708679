internal import CoreMetrics
public import Faults
internal import Spans
internal import Synchronization

/// A service's durable state: what is acknowledged stays.
///
/// Writes of concurrent callers share commits; reads run beside them, and share snapshots. No call blocks the caller's thread. Several processes may have the same
/// rows open. Which engine keeps them is the opener's choice: stores of services know this module alone.
public final class Store: Sendable {
    /// The rows are here: the path of a file, or the address of a server.
    public var place: String { engine.place }
    /// Says when another process has written; `nil` where nobody tells.
    public let changes: (any StoreChanges)?
    /// True when memory may answer for the store as `CoherentCache` does it. Where other hosts may write and nobody tells, it may not.
    public var isCoherent: Bool { changes != nil || !hasPipeline }
    @usableFromInline let hasPipeline: Bool
    let pipeline: (any StatementPipeline)?
    let engine: any StoreEngine
    private let limits: StoreLimits
    let metrics: StoreMetrics
    private let readsUnderWay = Atomic(0)
    let refusals = Mutex(StoreRefusals())
    /// Look at how full the caches are.
    private let caches = Mutex<[@Sendable () -> Void]>([])
    /// Steps of the schema that this program knows.
    private let level: Int

    /// - Parameters:
    ///   - engine: Open, with its schema up to date.
    ///   - migrations: All steps that this version knows.
    ///   - limits: As the engine has them.
    ///   - metrics: Shared with the engine.
    package init(engine: any StoreEngine, migrations: [Migration], limits: StoreLimits, metrics: StoreMetrics) {
        self.engine = engine
        self.limits = limits
        self.metrics = metrics
        level = migrations.count
        changes = engine.changes
        pipeline = engine.pipeline
        hasPipeline = engine.pipeline != nil
    }

    /// The engine cannot be used right now for this reason, for operators; `nil` when it can.
    public var trouble: String? { engine.trouble }

    /// The fault of the engine though it can be used, for operators; `nil`: nothing.
    public var warning: String? { engine.warning }

    /// The findings at the opening of the rows, for the log.
    public var opening: StoreOpening { engine.opening }

    /// Runs statements that change the store and returns when they are on disk.
    ///
    /// The statements are a savepoint in a transaction that they may share with those of other callers. All of them are stored or, when the closure
    /// throws, none. The closure sees writes of earlier callers. It must have no effect beside its statements: after a rollback it may run once more.
    /// - Parameter whenCommitted: Called with the result once it is on disk and before anybody hears of it. Where the store is coherent, in the order of the
    ///   commits, one call at a time: for what memory is to know. It must be quick, and not use the store.
    /// - Throws: The error of the closure when that is a `Fault`; else `overloaded` (too many writes wait; nothing was done), `storage_full`,
    ///   `unavailable` (closed, or the disk fails) or `internal`.
    @discardableResult
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value, whenCommitted: (@Sendable (Value) -> Void)? = nil
    ) async throws(Fault) -> Value {
        let span = span("write")
        let result = await awaiting { (waiter, continuation: CheckedContinuation<Result<Value, Fault>, Never>) in
            do throws(Fault) {
                try engine.submit(PendingWrite(waiter, body, whenCommitted: whenCommitted) { continuation.resume(returning: $0) })
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        span?.end(result)
        noteWrite(result)
        return try result.get()
    }

    /// Runs statements that only read, on a snapshot of what is committed. Reads that wait at the same moment share one.
    /// - Throws: The error of the closure when that is a `Fault`; else `overloaded` (too many reads wait), `unavailable` or `internal`.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(Fault) -> Value {
        let underWay = readsUnderWay.add(1, ordering: .relaxed).newValue
        defer { readsUnderWay.subtract(1, ordering: .relaxed) }
        guard underWay <= limits.waitingReads else {
            metrics.refused.increment()
            throw .storeIsBusy
        }
        let span = span("read")
        let result = await awaiting { (waiter, continuation: CheckedContinuation<Result<Value, Fault>, Never>) in
            engine.read(waiter) { opened in
                continuation.resume(returning: Result { try body(opened.get()) }.mapError(Fault.storage))
            }
        }
        span?.end(result)
        return try result.get()
    }

    /// A file answers so soon that nobody gives up meanwhile: only elsewhere it is worth its cost to hear of that.
    private func awaiting<Value: Sendable>(_ submit: (Waiter, CheckedContinuation<Value, Never>) -> Void) async -> Value {
        guard hasPipeline else { return await withCheckedContinuation { submit(.always, $0) } }
        return await Waiter.awaiting(submit)
    }

    /// True when this program still knows the content of the store: a newer release may have changed it while this one had it open.
    /// - Returns: False when it has.
    /// - Throws: Faults of a read.
    public func isUnderstood() async throws(Fault) -> Bool { try await read { [level, engine] in level >= (try engine.leastLevel($0)) } }

    /// Lets the metrics tell how full a cache of what the store holds is, as often as the store's size.
    /// - Parameter name: Label of the metrics, for example `sessions`.
    public func watch<Key, Value>(_ cache: CoherentCache<Key, Value>, _ name: String) {
        let entries = metrics.cache(name, limit: cache.capacity)
        caches.withLock { caches in caches.append { [weak cache] in entries.record(cache?.count ?? 0) } }
    }

    /// The size of the rows, without the journal, and how much they may take; also told by the metrics.
    /// - Throws: Faults of a read.
    public func size() async throws(Fault) -> (bytes: Int, limit: Int?) {
        let (bytes, overhead) = try await read { [engine] in (try engine.bytes($0), try engine.overhead($0)) }
        let size = (bytes: bytes, limit: limits.pages.map { $0 * StoreLimits.pageBytes })
        if let overhead { metrics.record(overhead) }
        metrics.bytes.record(size.bytes)
        if let limit = size.limit { metrics.record(limit: limit) }
        if let disk = engine.disk { metrics.record(disk) }
        for look in caches.withLock({ $0 }) { look() }
        return size
    }

    /// Writes that wait for their turn, without those of the commit under way.
    package var waitingWrites: Int { engine.waitingWrites }

    /// Refuses new writes, waits until the waiting ones are on disk, and closes the store.
    public func close() async { await engine.close() }
}

/// The findings at the opening of a store.
public struct StoreOpening: Sendable, Equatable {
    /// Pages that were read back from the write-ahead log of a file that was not closed; 0: it was closed, or had none.
    public let recoveredFrames: Int
    /// True when the look for damage came to its end, where one was taken.
    public let isCheckFinished: Bool

    package init(recoveredFrames: Int = 0, isCheckFinished: Bool = true) {
        (self.recoveredFrames, self.isCheckFinished) = (recoveredFrames, isCheckFinished)
    }
}

extension Store {
    /// The span of statements that only a closure knows.
    /// - Parameter operation: `read` or `write`.
    @inline(__always)
    func span(_ operation: String) -> Span? { Span.part(spanKind, "\(operation) \(metrics.store)", attributes(operation)) }

    /// Texts of statements hold no values.
    @inline(__always)
    func span(_ statement: Statement) -> Span? {
        Span.part(
            spanKind, "\(statement.verb) \(metrics.store)",
            attributes(statement.verb) + [SpanAttribute("db.query.text", .text(String(statement.postgres.prefix(Self.longestText))))])
    }

    @inline(__always)
    func span(_ plan: Plan) -> Span? {
        Span.part(
            spanKind, "\(Self.verb(of: plan)) \(metrics.store)",
            attributes(Self.verb(of: plan)) + [SpanAttribute("db.operation.batch.size", .integer(Int64(plan.steps.count)))])
    }

    private static var longestText: Int { 1000 }

    /// A file is a part of the program, a server is not.
    private var spanKind: SpanKind { hasPipeline ? .client : .internal }

    private func attributes(_ operation: String) -> [SpanAttribute] {
        [
            SpanAttribute("db.system.name", .text(engine.system)), SpanAttribute("db.namespace", .text(metrics.store)),
            SpanAttribute("db.operation.name", .text(operation)),
        ] + (engine.address.map { [SpanAttribute("server.address", .text($0))] } ?? [])
    }

    private static func verb(of plan: Plan) -> String {
        let verbs = Set(plan.steps.map(\.statement.verb))
        return verbs.count == 1 ? verbs.first ?? "write" : "write"
    }
}

extension Statement {
    /// `SELECT`, `INSERT`, …
    fileprivate var verb: String { String(postgres.prefix { $0.isLetter }).uppercased() }
}

extension Span {
    func end<Value>(_ result: Result<Value, Fault>) {
        if case .failure(let fault) = result { end(fault) } else { end() }
    }
}

// Statements that are known whole. An engine behind a network answers them in one round trip, beside those of other callers; SQLite runs them as `read` and
// `write` do.
extension Store {
    /// The first row of a statement that only reads, on all that was acknowledged before.
    /// - Throws: As `read`.
    @inlinable
    public func first<Value: Sendable>(
        _ statement: Statement, _ arguments: Arguments = [], _ read: @escaping @Sendable (inout ColumnReader) throws -> Value
    ) async throws(Fault) -> Value? {
        guard hasPipeline else { return try await self.read { try $0.first(statement, arguments, read) } }
        let rows = try await look(statement, arguments)
        return try Self.reading { try rows.first(read) }
    }

    /// All rows of a statement that only reads, on all that was acknowledged before.
    /// - Throws: As `read`.
    @inlinable
    public func all<Value: Sendable>(
        _ statement: Statement, _ arguments: Arguments = [], _ read: @escaping @Sendable (inout ColumnReader) throws -> Value
    ) async throws(Fault) -> [Value] {
        guard hasPipeline else { return try await self.read { try $0.all(statement, arguments, read) } }
        let rows = try await look(statement, arguments)
        return try Self.reading { try rows.all(read) }
    }

    /// The first column of the first row; also `nil` when that is NULL.
    /// - Throws: As `read`.
    @inlinable
    public func value<Value: ColumnValue>(_ statement: Statement, _ arguments: Arguments = []) async throws(Fault) -> Value? {
        try await first(statement, arguments) { $0.next() as Value? } ?? nil
    }

    /// Runs one statement that changes rows, and returns when that is on disk.
    /// - Returns: How many rows it inserted, changed or deleted.
    /// - Throws: As `write`.
    @discardableResult
    public func change(_ statement: Statement, _ arguments: Arguments = [], of subject: String = "") async throws(Fault) -> Int {
        guard let pipeline else { return try await write { try $0.run(statement, arguments) } }
        var plan = Plan(for: subject)
        try arguments.requireStorable()
        plan.add(statement, arguments)
        // Without a number of rows to keep to, a taken key alone brings no answer.
        guard let rows = try await stored(plan, in: pipeline) else {
            throw .storage(DatabaseError(.other, "a key is taken: \(statement.postgres)"))
        }
        return rows.first?.affected ?? 0
    }

    /// Stores a plan, where the engine takes plans.
    /// - Parameter plan: Called only there.
    /// - Returns: The rows of each step. `nil`: nothing is stored, as a step had another number of rows, a key was taken, or the engine takes no
    ///   plans. `write` is then to find out, step by step.
    /// - Throws: As `write`.
    public func commit(_ plan: () throws(Fault) -> Plan) async throws(Fault) -> [any StoredRows]? {
        guard let pipeline else { return nil }
        return try await stored(try plan().storable(), in: pipeline)
    }

    private func stored(_ plan: Plan, in pipeline: any StatementPipeline) async throws(Fault) -> [any StoredRows]? {
        let span = span(plan)
        let result = await Waiter.awaiting { (waiter, continuation: CheckedContinuation<Result<[any StoredRows]?, Fault>, Never>) in
            do throws(Fault) {
                try pipeline.commit(plan, waiter) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        span?.end(result)
        noteWrite(result)
        return try result.get()
    }

    /// Only where there are lanes.
    @usableFromInline
    func look(_ statement: Statement, _ arguments: Arguments) async throws(Fault) -> any StoredRows {
        try arguments.requireStorable()
        guard let pipeline else { throw .storeIsClosed }
        let span = span(statement)
        let result = await Waiter.awaiting { (waiter, continuation: CheckedContinuation<Result<any StoredRows, Fault>, Never>) in
            do throws(Fault) {
                try pipeline.look(statement, arguments, waiter) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        span?.end(result)
        return try result.get()
    }

    @usableFromInline
    static func reading<Value>(_ body: () throws -> Value) throws(Fault) -> Value {
        do {
            return try body()
        } catch {
            throw .storage(error)
        }
    }
}
