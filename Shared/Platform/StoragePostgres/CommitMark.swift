internal import CoreMetrics
internal import Glibc
internal import Storage
internal import Synchronization

/// A row that a transaction adds last, so that it can be found out later whether it was stored.
///
/// The server's own answer (`pg_xact_status`) is not enough. If nothing of a transaction came to the disk, or to the standby that was promoted, its
/// number is given to another one. The answer would then be about that one. The row is there exactly where the transaction is, on whatever server
/// takes its place.
enum CommitMark {
    /// The end of a transaction.
    enum Verdict: Sendable, Equatable {
        case stored
        /// It is not, and never will be.
        case notStored
        case unknown
    }

    /// Callers wait for a verdict for this long, at most, beside one try to connect.
    static let patience: Duration = .seconds(2)
    /// Rows older than this are of no more use, in milliseconds.
    static let life: Int64 = 120_000

    static let add: Statement = "INSERT INTO commit_mark (id, made_at_ms) VALUES (?, ?)"
    private static let take: Statement = "INSERT INTO commit_mark (id, made_at_ms) VALUES (?, ?) ON CONFLICT (id) DO NOTHING"
    private static let next = Atomic(Int64.random(in: Int64.min...Int64.max))

    /// One that no transaction of any copy has.
    static func fresh() -> Int64 { next.wrappingAdd(1, ordering: .relaxed).newValue }

    static func arguments(_ mark: Int64) -> Arguments { [mark, WallTime.milliseconds] }

    /// Takes the mark's place. Where it is taken, the transaction is stored; where it is not, the transaction cannot be stored any more. One that is under way still is waited for.
    static func verdict(_ mark: Int64, on connection: PostgresConnection) -> Verdict { (try? ask(mark, connection)) ?? .unknown }

    /// - Parameter store: Label of the metric.
    static func count(_ verdict: Verdict, _ store: String) {
        Counter(label: "boxoffice_storage_commits_in_doubt_total", dimensions: [("store", store), ("outcome", verdict.label)]).increment()
    }

    private static func ask(_ mark: Int64, _ connection: PostgresConnection) throws -> Verdict {
        typealias Command = PostgresConnection.Command
        let outcomes = try connection.run(
            [
                Command("BEGIN ISOLATION LEVEL READ COMMITTED"), Command(take, arguments(mark)),
                // A transaction that is stored here may wait for its standby. A mark that is stored after it waits behind it: so this says when both
                // are safe.
                Command(add, arguments(fresh())), Command("COMMIT"),
            ], timeout: patience)
        guard case .rows(let last) = outcomes.last, last.tag == "COMMIT", case .rows(let taken) = outcomes[1] else {
            if connection.isUsable { _ = try? connection.run([Command("ROLLBACK")], timeout: patience) }
            return .unknown
        }
        return taken.affected == 0 ? .stored : .notStored
    }
}

extension CommitMark.Verdict {
    fileprivate var label: String {
        switch self {
        case .stored: "stored"
        case .notStored: "not_stored"
        case .unknown: "unknown"
        }
    }
}

/// A transaction whose end got no answer.
struct CommitInDoubt<Work: Sendable>: Sendable {
    let mark: Int64
    let since: ContinuousClock.Instant = .now
    /// Tells the callers.
    /// - Returns: The work that is to run again.
    let settle: @Sendable (CommitMark.Verdict) -> [Work]

    var isOver: Bool { since.duration(to: .now) >= CommitMark.patience }
}

/// This host's clock.
enum WallTime {
    /// Since 1970.
    static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
