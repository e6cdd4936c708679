internal import Faults
internal import Foundation
internal import Logging
internal import Storage
internal import Synchronization

/// Tells when a store takes no writes, how many were not taken, and when it takes them again. It tries that once nobody is refused any more.
final class RefusalWatch: Sendable {
    private static let interval: Duration = .seconds(2)

    private let store: Store
    private let logger: Logger
    private let reports = Mutex(RefusalReports())

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Nothing is written for this reason, in a word or two; `nil`: writes are taken.
    var lacking: String? { store.refusal?.reason.rawValue }

    func run() async throws {
        while true {
            try await Task.sleep(for: Self.interval)
            await look(at: .now)
        }
    }

    func look(at now: ContinuousClock.Instant) async {
        let (refusal, refused) = (store.refusal, store.refusedWrites)
        let action = reports.withLock { $0.look(isRefusing: refusal != nil, refused: refused, at: now) }
        if let count = action.told, let refusal {
            logger.error(
                "store.refuses",
                metadata: ["place": "\(store.place)", "reason": "\(refusal.reason.rawValue)", "count": "\(count)", "advice": "\(refusal.advice)"])
        }
        guard action.tries, await store.takesWritesAgain() else { return }
        let total = reports.withLock { $0.end(at: now) }
        logger.notice("store.takes_again", metadata: ["place": "\(store.place)", "count": "\(total.writes)", "seconds": "\(total.seconds)"])
    }
}

/// The reports of writes that a store does not take, and the times that are worth a try. They come at once, then each minute; a try comes after ten
/// seconds in which none was refused.
struct RefusalReports {
    typealias Instant = ContinuousClock.Instant

    struct Action: Equatable {
        /// So many writes were not taken since the last report; `nil`: there is nothing to tell.
        var told: Int?
        var tries = false
    }

    static let repetition: Duration = .seconds(60)
    static let silence: Duration = .seconds(10)

    private struct Trouble {
        let began: Instant
        /// Refused before.
        let before: Int
        var told: Instant
        var toldCount: Int
        var seen: Int
        var seenAt: Instant
    }

    private var trouble: Trouble?
    private var refused = 0

    /// - Parameter count: Writes that were refused until now.
    mutating func look(isRefusing: Bool, refused count: Int, at now: Instant) -> Action {
        guard isRefusing else {
            (trouble, refused) = (nil, count)
            return Action()
        }
        guard var known = trouble else {
            trouble = Trouble(began: now, before: refused, told: now, toldCount: count, seen: count, seenAt: now)
            return Action(told: count - refused)
        }
        if count != known.seen { (known.seen, known.seenAt) = (count, now) }
        var action = Action(tries: known.seenAt.duration(to: now) >= Self.silence)
        if known.told.duration(to: now) >= Self.repetition {
            action.told = count - known.toldCount
            (known.told, known.toldCount) = (now, count)
        }
        // The next try has the same time to wait.
        if action.tries { known.seenAt = now }
        trouble = known
        return action
    }

    /// Writes are taken again.
    /// - Returns: How many were not, and for how long.
    mutating func end(at now: Instant) -> (writes: Int, seconds: Int64) {
        defer { trouble = nil }
        guard let trouble else { return (0, 0) }
        refused = trouble.seen
        return (trouble.seen - trouble.before, trouble.began.duration(to: now).components.seconds)
    }
}

/// Notices that files were replaced or written.
struct FileWatch: Sendable {
    private struct Mark: Hashable {
        let inode: UInt64
        let size: UInt64
        let modified: Date
    }

    private let files: [String]
    private var marks: [Mark?]

    init(_ files: [String]) {
        self.files = files
        marks = files.map(Self.mark)
    }

    /// True when one of them differs from what was found the last time.
    mutating func hasChanged() -> Bool {
        let found = files.map(Self.mark)
        defer { marks = found }
        return found != marks
    }

    private static func mark(_ file: String) -> Mark? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file) else { return nil }
        return Mark(
            inode: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0, size: (attributes[.size] as? NSNumber)?.uint64Value ?? 0,
            modified: attributes[.modificationDate] as? Date ?? .distantPast)
    }
}

/// States whether this program still understands its store, which copies of a newer release may have changed meanwhile. It also tells when its server
/// goes and comes.
final class SchemaWatch: Sendable {
    private static let interval: Duration = .seconds(2)

    private let store: Store
    private let logger: Logger
    private let trouble = Mutex<String?>(nil)
    private let isAway = Mutex(false)
    private let warning = Mutex<String?>(nil)

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// The program can no longer work with the store for this reason; `nil` as long as it can.
    var lacking: String? { trouble.withLock { $0 } }

    func run() async throws {
        while true {
            try await Task.sleep(for: Self.interval)
            await look()
        }
    }

    private func tellServer() {
        let reason = store.trouble
        let wasAway = isAway.withLock { isAway in
            defer { isAway = reason != nil }
            return isAway
        }
        switch (reason, wasAway) {
        case (let reason?, false): logger.error("store.away", metadata: ["place": "\(store.place)", "reason": "\(reason)"])
        case (nil, true): logger.notice("store.back", metadata: ["place": "\(store.place)"])
        default: break
        }
        let (found, before) = warning.withLock { warning in
            let before = warning
            warning = store.warning
            return (warning, before)
        }
        if let found, before == nil { logger.warning("store.warning", metadata: ["place": "\(store.place)", "reason": "\(found)"]) }
    }

    private func look() async {
        tellServer()
        let found: String?
        do throws(Fault) {
            found = try await store.isUnderstood() ? nil : "the store was changed by a newer version of this service; start that version here too"
        } catch {
            // A store that does not answer is told by the calls that need it.
            return
        }
        let before = trouble.withLock { trouble in
            defer { trouble = found }
            return trouble
        }
        if let found, before == nil { logger.error("store.superseded", metadata: ["file": "\(store.place)", "reason": "\(found)"]) }
    }
}
