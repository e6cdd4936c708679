public import Clocks
internal import Contracts
internal import Faults
public import Logging
internal import Synchronization

/// Notes the last denial of each session, beside the answers. The note never delays a denial, and never costs an app its denial. A note that a store
/// does not take is forgotten.
public final class RefusalNotes: Sendable {
    /// Sessions that wait for the store; one more is not noted.
    private static let room = 8192
    private static let pause: Duration = .milliseconds(500)
    /// Rows of one transaction.
    private static let batch = 256

    private let store: any RefusalStore
    private let clock: any WallClock
    private let logger: Logger
    private let waiting = Mutex<[OctetText: NotedRefusal]>([:])
    private let warning = OccasionalWarning()

    public init(store: any RefusalStore, clock: any WallClock, logger: Logger) {
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Notes a no for the next write. A denial for a stand-in session is not noted: nobody could look for it.
    /// - Parameters:
    ///   - code: Why.
    ///   - source: The source of the denial.
    func note(_ code: Fault.Code, from source: DecisionSource, of session: SessionAtHand) {
        guard !session.standsIn, !session.session.id.isEmpty else { return }
        let refusal = NotedRefusal(session: session.session.id, code: code.rawValue, source: source, at: clock.now())
        waiting.withLock { waiting in
            let key = OctetText(refusal.session)
            if waiting.count < Self.room || waiting[key] != nil { waiting[key] = refusal }
        }
    }

    /// The last no of each of these sessions, as long as it is remembered.
    /// - Throws: `Fault` of the store.
    func find(_ sessions: [String]) async throws(Fault) -> [NotedRefusal] {
        let own = waiting.withLock { waiting in sessions.compactMap { waiting[OctetText($0)] } }
        let known = Set(own.map { OctetText($0.session) })
        let (others, oldest) = (sessions.filter { !known.contains(OctetText($0)) }, clock.now() - NotedRefusal.remembrance)
        guard !others.isEmpty else { return own }
        return own + (try await store.refusals(of: others)).filter { $0.at > oldest }
    }

    /// Forgets what was a no for these sessions.
    /// - Returns: The number of notes that were there.
    /// - Throws: `Fault` of the store.
    func erase(_ sessions: [String]) async throws(Fault) -> Int {
        let unwritten = waiting.withLock { waiting in sessions.count { waiting.removeValue(forKey: OctetText($0)) != nil } }
        return max(unwritten, try await store.forget(sessions))
    }

    /// Writes what waits, until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            await flush()
        }
    }

    /// Writes what waits.
    public func flush() async {
        let refusals = Array(waiting.withLock { $0 }.values)
        var rest = refusals[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Self.batch))
            rest = rest.dropFirst(batch.count)
            do throws(Fault) {
                try await store.keep(batch)
            } catch {
                if warning.isDue(now: clock.now()) {
                    logger.warning(
                        "authz.refusals_not_noted",
                        metadata: ["count": "\(batch.count)", "cause": "\(error.cause.map { "\($0)" } ?? "\(error.code)")"])
                }
            }
            // One that is newer stays for the next turn.
            waiting.withLock { waiting in
                for refusal in batch where waiting[OctetText(refusal.session)] == refusal { waiting[OctetText(refusal.session)] = nil }
            }
        }
    }
}
