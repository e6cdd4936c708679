public import Clocks
internal import CoreMetrics
public import Faults
public import Logging
public import Storage
internal import Synchronization
public import Tokens

/// Holds this process's number in the store, so that no two processes ever date a reference token alike: not two copies beside each other, and not a process
/// and the one that is started after it (Shared/Documents/Decisions/0019).
///
/// The row says up to when seconds may have been given, two seconds ahead of the last one. Nobody gives a second behind that end without having moved it first,
/// and whoever takes the number over begins at it.
public final class CopyNumberKeeper: IssueWindows {
    private struct State {
        var window: IssueWindow?
        /// The extension that is under way.
        var extending: Task<Result<IssueWindow, Fault>, Never>?
        /// The last second that a window was asked for.
        var lastUse = Timestamp(milliseconds: 0)
        var lacking: String?
    }

    /// How far the end lies ahead when it is moved, and from which rest on it is moved while it is still good.
    /// Whoever takes a number of the settings over waits for the end; a number that was found is not taken again until it is out of reach, so its end may lie
    /// further ahead, and a disk that is full for a while stops no tokens.
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

    /// - Parameter number: Of the settings; `nil`: the lowest that is free.
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

    /// Why this copy can date no token; `nil` when it can, or has not tried.
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
                }
                return result
            }
            state.extending = task
            return task
        }
    }

    private func extended(_ former: IssueWindow?) async -> Result<IssueWindow, Fault> {
        let (holder, given, now) = (holder, given, clock.now())
        // Whole seconds, as tokens have them: who is next begins with one that was not given.
        let end = Timestamp(seconds: (now + ahead).seconds)
        do throws(Fault) {
            let window = try await store.write { database -> IssueWindow? in
                let numbers = CopyNumbers(database: database, holder: holder, now: now)
                guard let former else {
                    return try given.map { try numbers.take($0, until: end) } ?? numbers.takeAny(until: end)
                }
                if try numbers.extend(former.copy, until: end) {
                    return IssueWindow(copy: former.copy, first: former.first, end: max(former.end, end))
                }
                // Two copies with one number in their settings take turns if each takes it back.
                return given == nil ? try numbers.takeAny(until: end) : nil
            }
            guard let window else { return .failure(lost(former)) }
            if window.copy != former?.copy {
                number.record(window.copy)
                logger.info("copy.number", metadata: ["number": "\(window.copy)"])
            }
            return .success(window)
        } catch {
            // What was good stays good to its end.
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
            return Fault(.unavailable, "Another process has the number of this copy.", retryAfter: .seconds(10))
        }
        return Fault(.unavailable, "All numbers of copies are held.", retryAfter: .seconds(10))
    }
}
