internal import Clocks
internal import Synchronization

/// Clients of ours that one upstream does not know any more (bridge §4.2). When it loses many at once it is no matter of single devices: operators
/// hear of it, and clients are registered anew one after the other, so that an upstream that has just come back is not overrun. Each copy counts its own.
struct UpstreamLosses: Sendable {
    static let window: Duration = .seconds(600)
    /// More than so many in a window are many.
    static let most = 50
    private static let pace: Duration = .seconds(1)
    /// The longest time that somebody is told to wait.
    private static let longestWait = 60

    /// Losses by the second.
    private var seconds: [(start: Int64, count: Int)] = []
    /// Lost clients that have not been registered anew.
    private var waiting = 0
    private var nextTurn: Timestamp?
    private var alarmedAt: Timestamp?

    /// Counts a client that was lost.
    /// - Returns: How many there are, where that is an alarm: once in a window.
    mutating func note(_ now: Timestamp) -> Int? {
        forget(now)
        if seconds.last?.start != now.seconds { seconds.append((now.seconds, 0)) }
        seconds[seconds.count - 1].count += 1
        waiting += 1
        guard count > Self.most, alarmedAt.map({ now < $0 || now >= $0 + Self.window }) ?? true else { return nil }
        alarmedAt = now
        return count
    }

    /// True while many are lost.
    mutating func areMany(_ now: Timestamp) -> Bool {
        forget(now)
        return count > Self.most
    }

    /// Takes the turn of registering a lost client anew.
    /// - Returns: `nil` when it is the caller's turn, else how long to wait.
    mutating func turn(_ now: Timestamp) -> Duration? {
        guard areMany(now) else {
            waiting = 0
            return nil
        }
        if let nextTurn, now < nextTurn, nextTurn - now <= Self.pace { return .seconds(min(max(waiting, 1), Self.longestWait)) }
        nextTurn = now + Self.pace
        waiting = max(waiting - 1, 0)
        return nil
    }

    private var count: Int { seconds.reduce(0) { $0 + $1.count } }

    private mutating func forget(_ now: Timestamp) {
        seconds.removeAll { $0.start <= now.seconds - Self.window.components.seconds || $0.start > now.seconds }
    }
}

/// A software statement that an upstream refuses: no client is registered with it, whichever device needs one (bridge §4.2).
struct UpstreamRefusal: Sendable {
    let code: String
    /// Until then nobody asks; then one caller does, and the others wait for what it hears.
    var until: Timestamp
    /// The digest of the statement: another one is tried at once.
    let statement: [UInt8]

    /// - Returns: False for a clock that was set back.
    func holds(_ now: Timestamp) -> Bool { now < until && until - now <= Self.longest }

    private static let longest: Duration = .seconds(600)
}

extension Task where Failure == Never {
    /// Waits for work that somebody else began, and goes on without it when the time is over.
    /// - Returns: `nil`: it was not done in time; it goes on.
    func value(within span: Duration) async -> Success? {
        await withCheckedContinuation { continuation in
            let first = FirstValue(continuation)
            let timer = Task<Void, Never> {
                guard (try? await Task<Never, Never>.sleep(for: span)) != nil else { return }
                first.resume(nil)
            }
            Task<Void, Never> {
                first.resume(await value)
                timer.cancel()
            }
        }
    }
}

/// The first value counts.
private final class FirstValue<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

    init(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation = Mutex(continuation) }

    func resume(_ value: Value?) {
        let waiting = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        waiting?.resume(returning: value)
    }
}
