internal import Storage
internal import Synchronization

/// States whether this copy may trust its server, and which one that is.
///
/// A server takes a heartbeat only while it can commit. One that waits for its standbys and was cut off from them, because another one was to take
/// its place, takes none. So three seconds after the last heartbeat that was committed began, nothing is answered any more, by no way, and nothing
/// stale is older.
final class ServerHealth: Sendable {
    private struct State {
        /// The server's start, as `PostgresConnection.server`; `nil`: no heartbeat was committed yet.
        var server: String?
        /// The last heartbeat that was committed began at this time.
        var began: ContinuousClock.Instant = .now
        var trouble = DatabaseError.away
        /// The connection of the heartbeats is lost: the next one may lead to another server.
        var isMoving = true
        var clock = ClockOffset()

        func fault(at now: ContinuousClock.Instant) -> DatabaseError? {
            guard server == nil || began.duration(to: now) >= ServerHealth.trust else { return nil }
            return DatabaseError(.unavailable, "\(trouble.description) (no heartbeat was committed within \(ServerHealth.trust))")
        }
    }

    /// A heartbeat counts for this long, from its beginning.
    static let trust: Duration = .seconds(3)

    private let state = Mutex(State())

    /// Nothing can be answered for this reason; `nil`: a heartbeat counts.
    var trouble: DatabaseError? { state.withLock { $0.fault(at: .now) } }

    /// The same for operators: already while the heartbeats look for a server.
    var lacking: DatabaseError? { state.withLock { $0.isMoving ? $0.trouble : $0.fault(at: .now) } }

    /// Returns why what came by this connection is not to be told.
    func trouble(with connection: PostgresConnection) -> DatabaseError? {
        state.withLock { state in
            if let fault = state.fault(at: .now) { return fault }
            return state.server == connection.server ? nil : DatabaseError(.unavailable, "PostgreSQL: another server takes the heartbeats")
        }
    }

    /// True when heartbeats go to another server than this connection leads to, so that it must be made anew.
    func isElsewhere(_ connection: PostgresConnection) -> Bool {
        state.withLock { !$0.isMoving && $0.fault(at: .now) == nil && $0.server != connection.server }
    }

    /// The clock's distance, for operators: what makes the copy useless, and what they should know.
    var clock: ClockOffset { state.withLock { $0.clock } }

    /// A heartbeat was committed.
    func beat(_ server: String, began: ContinuousClock.Instant, clock: ClockOffset) {
        state.withLock { state in
            (state.server, state.began, state.clock, state.isMoving) = (server, began, clock, false)
        }
    }

    /// A heartbeat was not committed; what the last one says counts as long as it would.
    func missed(_ error: DatabaseError, isLost: Bool) {
        state.withLock { state in
            state.trouble = error
            if isLost { state.isMoving = true }
        }
    }
}

/// The server's clock is this far from this host's.
struct ClockOffset: Equatable, Sendable {
    /// Hosts are to keep within two seconds of each other; beyond thirty, times that copies write into the store mean something else to the others.
    static let (warning, most): (Int64, Int64) = (2_000, 30_000)

    /// By which the server is ahead at least; negative: behind. Half of the time that the question took is unknown.
    private(set) var milliseconds: Int64 = 0

    init() {}

    /// - Parameters:
    ///   - asked: By this host's clock, in milliseconds.
    ///   - answered: When the answer was there.
    ///   - server: The time of the server's clock in between.
    init(asked: Int64, answered: Int64, server: Int64) {
        let (least, most) = (server - answered, server - asked)
        milliseconds = least > 0 ? least : min(most, 0)
    }

    var trouble: String? {
        abs(milliseconds) > Self.most ? "the clocks of this host and of the server are \(text) apart, over 30 s: set them" : nil
    }

    var advice: String? {
        abs(milliseconds) > Self.warning ? "the clocks of this host and of the server are \(text) apart: hosts are to keep theirs within 2 s" : nil
    }

    private var text: String { "\(abs(milliseconds) / 1000).\(abs(milliseconds) % 1000 / 100) s" }
}
