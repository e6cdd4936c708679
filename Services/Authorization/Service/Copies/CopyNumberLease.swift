public import Clocks
internal import CoreMetrics
public import Faults
internal import Foundation
public import Logging
public import Storage
internal import Synchronization
public import Tokens

/// Holds this process's number in the store, so that no two processes ever date a reference token alike (Shared/Documents/Decisions/0019). This holds
/// for two copies beside each other, and for a process and the one that is started after it.
///
/// The row says up to when seconds may have been given, two seconds ahead of the last one. Nobody gives a second behind that end without having moved
/// it first, and whoever takes the number over begins at it.
public final class CopyNumberLease: IssueWindows {
    private struct State {
        var window: IssueWindow?
        /// The extension that is under way.
        var extending: Task<Result<IssueWindow, Fault>, Never>?
        /// The last second that a window was asked for.
        var lastUse = Timestamp(milliseconds: 0)
        var lacking: String?
        /// This process has had its number, and may have lost it since.
        var hasHeld = false
    }

    /// How far the end lies ahead when it is moved, and from which rest on it is moved while it is still good. A copy that takes a number of the
    /// settings over waits for the end. A number that was found is not taken again until it is out of reach. So its end may lie further ahead, and a
    /// disk that is full for a while stops no tokens.
    private var ahead: Duration { given == nil ? .seconds(60) : .seconds(3) }
    private var low: Duration { given == nil ? .seconds(30) : .seconds(1) }
    private static let renewal: Duration = .seconds(10)

    private let store: Store
    private let given: Int?
    private let clock: any WallClock
    private let logger: Logger
    private let holder: CopyHolder
    private let state = Mutex(State())
    private let number = Gauge(label: "boxoffice_authorization_copy_number")

    /// - Parameter number: The number of the settings; `nil`: the lowest that is free.
    public convenience init(store: Store, number: Int?, clock: any WallClock, logger: Logger) {
        self.init(store: store, number: number, clock: clock, logger: logger, holder: .current)
    }

    init(store: Store, number: Int?, clock: any WallClock, logger: Logger, holder: CopyHolder) {
        self.store = store
        given = number
        self.clock = clock
        self.logger = logger
        self.holder = holder
    }

    /// This copy can date no token for this reason; `nil` when it can, or has not tried.
    public var lacking: String? { state.withLock { $0.lacking } }

    public func window(at now: Timestamp) async throws(Fault) -> IssueWindow {
        let (good, isLow) = state.withLock { state -> (IssueWindow?, Bool) in
            state.lastUse = max(state.lastUse, now)
            guard let window = state.window, now < window.end else { return (nil, true) }
            return (window, window.end - now < low)
        }
        if let good {
            if isLow { _ = extendedWindow() }
            return good
        }
        return try await extendedWindow().value.get()
    }

    /// Takes a number, and holds it until the task is cancelled, in use or not.
    public func run() async {
        while !Task.isCancelled {
            if case .failure(let fault) = await extendedWindow().value { logger.error("copy.not_held", metadata: ["reason": "\(fault)"]) }
            try? await Task.sleep(for: Self.renewal)
        }
    }

    /// Gives the number back, for the process that is started next.
    public func release() async {
        let (window, last) = state.withLock { state in
            defer { state.window = nil }
            return (state.window, state.lastUse)
        }
        guard let window else { return }
        let next = Timestamp(seconds: max(last, window.first).seconds + 1)
        let (holder, now) = (holder, clock.now())
        _ = try? await store.write { try CopyNumbers(database: $0, holder: holder, now: now).release(window.copy, given: next) }
    }

    /// One for all who wait.
    private func extendedWindow() -> Task<Result<IssueWindow, Fault>, Never> {
        state.withLock { state in
            if let known = state.extending { return known }
            let former = state.window
            let task = Task { [self] in
                let result = await extended(former)
                self.state.withLock { state in
                    state.extending = nil
                    state.window = try? result.get()
                    if case .failure(let fault) = result { state.lacking = fault.message } else { state.lacking = nil }
                    if state.window != nil { state.hasHeld = true }
                }
                return result
            }
            state.extending = task
            return task
        }
    }

    private func extended(_ former: IssueWindow?) async -> Result<IssueWindow, Fault> {
        let (holder, given, now, hasHeld) = (holder, given, clock.now(), state.withLock { $0.hasHeld })
        // Whole seconds, as tokens have them: who is next begins with one that was not given.
        let end = Timestamp(seconds: (now + ahead).seconds)
        do throws(Fault) {
            let window = try await store.write { database -> IssueWindow? in
                let numbers = CopyNumbers(database: database, holder: holder, now: now)
                guard let former else {
                    guard let given else { return try numbers.takeAny(until: end) }
                    // Two copies with one number in their settings would take turns if each took it back.
                    if hasHeld, try numbers.isHeld(given) { return nil }
                    return try numbers.take(given, until: end)
                }
                if try numbers.extend(former.copy, until: end) {
                    return IssueWindow(copy: former.copy, first: former.first, end: max(former.end, end))
                }
                return given == nil ? try numbers.takeAny(until: end) : nil
            }
            guard let window else { return .failure(lost(former)) }
            if window.copy != former?.copy {
                number.record(window.copy)
                logger.info("copy.number", metadata: ["number": "\(window.copy)"])
            }
            return .success(window)
        } catch {
            // A good window stays good to its end.
            if let former, now < former.end { return .success(former) }
            return .failure(error)
        }
    }

    private func lost(_ former: IssueWindow?) -> Fault {
        if let former {
            logger.error(
                "copy.number_taken",
                metadata: [
                    "number": "\(former.copy)", "advice": "another process has this number of authorization.copy; give each copy its own, or none",
                ])
        }
        let isAnothers = former != nil || given != nil
        return Fault(
            .unavailable, isAnothers ? "Another process has the number of this copy." : "All numbers of copies are held.", retryAfter: .seconds(10))
    }
}

/// The rows of `copy_number`, in one transaction.
struct CopyNumbers {
    /// Reach of the instants that are given, and a second.
    static let rest: Duration = .seconds(121)
    static let lease: Duration = .seconds(30)
    private static let service = "authorization"

    let database: Database
    let holder: CopyHolder
    let now: Timestamp

    /// Takes the lowest number that nobody holds and whose seconds are all out of reach.
    /// - Returns: `nil` when all are held.
    func takeAny(until end: Timestamp) throws -> IssueWindow? {
        let rows = try database.all("SELECT number, holder, until_ms, given_ms FROM copy_number WHERE service = ? ORDER BY number", [Self.service]) {
            (number: $0.next() as Int, holder: $0.next() as String, until: $0.next() as Timestamp, given: $0.next() as Timestamp)
        }
        var taken = Set<Int>()
        for row in rows {
            if isHeld(by: row.holder, until: row.until) || row.given > now - Self.rest { taken.insert(row.number) }
        }
        guard let number = MediaTokenIssuer.copies.first(where: { !taken.contains($0) }) else { return nil }
        return try take(number, until: end)
    }

    private func isHeld(by holder: String, until end: Timestamp) -> Bool { end > now && CopyHolder(holder)?.isGone != true }

    /// True while another process has the number.
    func isHeld(_ number: Int) throws -> Bool {
        let row = try database.first("SELECT holder, until_ms FROM copy_number WHERE service = ? AND number = ?", [Self.service, number]) {
            (holder: $0.next() as String, until: $0.next() as Timestamp)
        }
        guard let row else { return false }
        return row.holder != holder.text && isHeld(by: row.holder, until: row.until)
    }

    /// Takes that number, whoever has it: who had it can give no second that lies behind the end of its window.
    func take(_ number: Int, until end: Timestamp) throws -> IssueWindow {
        let given: Timestamp? = try database.value("SELECT given_ms FROM copy_number WHERE service = ? AND number = ?", [Self.service, number])
        let first = given ?? Timestamp(milliseconds: 0)
        let end = max(end, first + .seconds(1))
        try database.run(
            """
            INSERT INTO copy_number (service, number, holder, until_ms, given_ms) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (service, number) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms, given_ms = excluded.given_ms
            """, [Self.service, number, holder.text, now + Self.lease, end])
        return IssueWindow(copy: number, first: first, end: end)
    }

    /// - Returns: False when somebody else has the number.
    func extend(_ number: Int, until end: Timestamp) throws -> Bool {
        try database.run(
            """
            UPDATE copy_number SET until_ms = ?1, given_ms = CASE WHEN given_ms < ?2 THEN ?2 ELSE given_ms END
            WHERE service = ?3 AND number = ?4 AND holder = ?5
            """, [now + Self.lease, end, Self.service, number, holder.text]) == 1
    }

    /// Lets the next process have it at once, from the second after the last one that was given.
    func release(_ number: Int, given: Timestamp) throws {
        try database.run(
            "UPDATE copy_number SET until_ms = 0, given_ms = ? WHERE service = ? AND number = ? AND holder = ?",
            [given, Self.service, number, holder.text])
    }
}

/// Names a process so that another one of the same machine can tell whether it is still there.
struct CopyHolder: Sendable, Equatable {
    /// The kernel's boot and the process namespace: only within both do process numbers mean the same.
    let place: String
    let process: String
    /// Ticks from the boot to the start, since numbers are used again.
    let start: String

    /// This process. Where the system does not tell, it is told apart by chance alone, and nobody can say that it is gone.
    static let current: CopyHolder = {
        let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
        let namespace = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
        let process = "\(ProcessInfo.processInfo.processIdentifier)"
        guard let boot, let namespace, let start = startTicks(process) else {
            return CopyHolder(place: UUID().uuidString, process: process, start: "0")
        }
        return CopyHolder(place: "\(boot)/\(namespace)", process: process, start: start)
    }()

    init(place: String, process: String, start: String) {
        self.place = place
        self.process = process
        self.start = start
    }

    /// - Parameter text: The text of a row.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3 else { return nil }
        self.init(place: String(parts[0]), process: String(parts[1]), start: String(parts[2]))
    }

    var text: String { "\(place) \(process) \(start)" }

    /// True when it certainly is no more; false also where nobody can tell from here.
    var isGone: Bool { place == Self.current.place && Self.startTicks(process) != start }

    /// Field 22 of `/proc/PID/stat`; the name before it may hold anything, so it is counted from the last parenthesis.
    private static func startTicks(_ process: String) -> String? {
        guard process.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8), let end = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        return fields.count > 19 ? String(fields[19]) : nil
    }
}
