package import Faults
internal import Synchronization

/// The engine that keeps a store's rows: a file with its connections, or those to a server.
package protocol StoreEngine: Sendable {
    /// Where the rows are, for the log and for operators: the path of a file, or the address of a server.
    var place: String { get }

    /// Its name in traces: `sqlite` or `postgresql`.
    var system: String { get }

    /// Name of the server, or of several with commas between them; `nil`: there is none.
    var address: String? { get }

    /// Says when another process has written; `nil` where nobody tells.
    var changes: (any StoreChanges)? { get }

    /// Takes statements without a connection of the caller's; `nil`: only `submit` and `read` do.
    var pipeline: (any StatementPipeline)? { get }

    /// The engine cannot be used right now for this reason, for operators; `nil` when it can.
    var trouble: String? { get }

    /// The fault of the engine though it can be used, for operators; `nil`: nothing.
    var warning: String? { get }

    /// The findings at the opening of the rows.
    var opening: StoreOpening { get }

    /// Takes a lease that copies of the store share, or says that it is this copy's still; `nil`: it is another one's.
    func lease(_ name: String) async -> Lease?

    /// Writes that wait for their turn, without those of the commit under way.
    var waitingWrites: Int { get }

    /// Queues a write, which may share a commit with others.
    /// - Throws: `overloaded` when the queue is full, `unavailable` after `close`.
    func submit(_ write: PendingWrite) throws(Fault)

    /// Runs a read, which may share a snapshot with others, of all that was acknowledged before.
    /// - Parameters:
    ///   - waiter: True when somebody waits for it still.
    ///   - job: Gets the database, or why there is none.
    func read(_ waiter: Waiter, _ job: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// A program must know this many steps of the schema to work with the rows; 0 where nobody has said.
    func leastLevel(_ database: Database) throws -> Int

    /// Bytes that the rows take.
    func bytes(_ database: Database) throws -> Int

    /// Bytes of the file that no rows take at present, and of the journal beside it; `nil` where a server looks after them.
    func overhead(_ database: Database) throws -> (free: Int, journal: Int)?

    /// Room of the file system that the rows are on; `nil` where a server looks after it.
    var disk: DiskRoom? { get }

    /// The report for operators of writes that failed with that error, of kind `full` or `diskFails`.
    func refusal(_ error: DatabaseError) -> StoreRefusal

    /// Tries whether a write would be taken that needs more room, after some were not. It changes nothing that a program reads.
    func takesWrites() async -> Bool

    /// Refuses new writes, waits until the waiting ones are committed, and lets go of the rows.
    func close() async
}

extension StoreEngine {
    package var address: String? { nil }
    package var pipeline: (any StatementPipeline)? { nil }
    package var trouble: String? { nil }
    package var warning: String? { nil }
    package var opening: StoreOpening { StoreOpening() }
    package func lease(_ name: String) async -> Lease? { .everyone }
    package func overhead(_ database: Database) throws -> (free: Int, journal: Int)? { nil }
    package var disk: DiskRoom? { nil }
    package func refusal(_ error: DatabaseError) -> StoreRefusal {
        error.kind == .full
            ? StoreRefusal(reason: .full, advice: "the disk of the server that keeps it is full: make room there")
            : StoreRefusal(reason: .failing, advice: error.description)
    }
    /// One that cannot commit anything has trouble, and who writes finds out what is left of it.
    package func takesWrites() async -> Bool { trouble == nil }
}

/// States whether somebody waits for the work still. Work in an engine's queue that nobody waits for is not sent.
package final class Waiter: Sendable {
    private let isOver = Atomic(false)

    /// The interest in work that somebody waits for until it is done.
    package static let always = Waiter()

    package init() {}

    /// Nobody waits any more: the call was given up, or its time is over.
    package func end() { isOver.store(true, ordering: .relaxed) }

    package var isThere: Bool { !isOver.load(ordering: .relaxed) }
}

extension Waiter {
    /// Hands work over and waits for its result. When the task is cancelled meanwhile, nobody waits for the work any more; the result comes all the
    /// same. A task that was cancelled before has reason to go on.
    static func awaiting<Value: Sendable>(_ submit: (Waiter, CheckedContinuation<Value, Never>) -> Void) async -> Value {
        let waiter = Waiter()
        guard !Task.isCancelled else { return await withCheckedContinuation { submit(waiter, $0) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { submit(waiter, $0) }
        } onCancel: {
            waiter.end()
        }
    }
}

/// A caller's write on its way to a commit.
package struct PendingWrite: Sendable {
    /// Tells the caller its result.
    package typealias Delivery = @Sendable () -> Void

    /// Runs the caller's statements; the delivery is due once they are committed. May run again after a rollback.
    package let perform: @Sendable (Database) throws -> Delivery
    package let fail: @Sendable (Fault) -> Void
    package let waiter: Waiter

    init<Value: Sendable>(
        _ waiter: Waiter, _ body: @escaping @Sendable (Database) throws -> Value, whenCommitted: (@Sendable (Value) -> Void)?,
        deliver: @escaping @Sendable (Result<Value, Fault>) -> Void
    ) {
        self.waiter = waiter
        perform = { database in
            let value = try body(database)
            return {
                whenCommitted?(value)
                deliver(.success(value))
            }
        }
        fail = { deliver(.failure($0)) }
    }
}
