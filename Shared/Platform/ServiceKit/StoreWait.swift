internal import Faults
internal import Foundation
internal import Logging
internal import Storage
internal import Synchronization

/// Waits at the start for a store's server, for as long as it takes, as a copy that runs already does; and says for what. Later on it says what keeps the store from
/// being used.
///
/// The log has a line when it begins to wait, at each change of the reason, and each minute.
final class StoreWait: Sendable {
    private struct State {
        var place = ""
        /// Since when it waits; `nil`: it does not.
        var begun: ContinuousClock.Instant?
        var reason = StoreWait.silence
        var told: (reason: String, at: ContinuousClock.Instant)?
        /// Open.
        var store: Store?
    }

    /// Before the first try has ended.
    private static let silence = "no answer yet"

    private let logger: Logger
    private let longestTry: Duration
    private let reminder: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - longestTry: A try that takes so long is worth a line of its own; looked at as often.
    ///   - reminder: How long after a line the log has the same reason again.
    init(logger: Logger, longestTry: Duration = .seconds(5), reminder: Duration = .seconds(60)) {
        (self.logger, self.longestTry, self.reminder) = (logger, longestTry, reminder)
    }

    /// `waiting: ` and the reason at the start, then why the open store cannot be used; `nil`: it can.
    var lacking: String? {
        let (waiting, store) = state.withLock { ($0.begun == nil ? nil : "waiting: \($0.reason)", $0.store) }
        return waiting ?? store?.trouble
    }

    /// The store is open.
    func follow(_ store: Store) { state.withLock { $0.store = store } }

    /// Opens a store, and returns when its server takes heartbeats.
    /// - Parameters:
    ///   - place: The place of the server, for the log.
    ///   - open: Blocks; tried again while what it throws may pass.
    /// - Throws: An error that does not pass by itself, at once; `CancellationError`.
    func open(at place: String, _ open: @escaping @Sendable () throws -> Store) async throws -> Store {
        try await waiting(at: place) { [self] in
            let store = try await opened(open)
            while let trouble = store.trouble {
                tell(trouble)
                try await Task.sleep(for: StartPause.shortest)
            }
            return store
        }
    }

    /// Does what needs a store that is open, again and again while its server is away.
    /// - Throws: An error that does not pass by itself, at once; `CancellationError`.
    func ask<Value>(_ store: Store, _ body: () async throws -> Value) async throws -> Value {
        guard store.isDistributed else { return try await body() }
        do {
            return try await body()
        } catch let first as Fault where first.isRetryable {
            return try await waiting(at: store.place) {
                var (latest, pause) = (first, StartPause())
                while true {
                    tell(store.trouble ?? latest.cause.map { "\($0)" } ?? latest.message)
                    try await Task.sleep(for: pause.next())
                    do { return try await body() } catch let next as Fault where next.isRetryable { latest = next }
                }
            }
        }
    }

    private func opened(_ open: @escaping @Sendable () throws -> Store) async throws -> Store {
        var pause = StartPause()
        while true {
            do {
                return try await FirstResult.ofThread(open)
            } catch let error as StoreError {
                guard let longest = error.retryPause else { throw error }
                tell(error.reason)
                try await Task.sleep(for: pause.next(upTo: longest))
            }
        }
    }

    private func waiting<Value>(at place: String, _ body: () async throws -> Value) async throws -> Value {
        let begun = ContinuousClock.now
        state.withLock { ($0.place, $0.begun, $0.reason, $0.told) = (place, begun, Self.silence, nil) }
        defer { state.withLock { $0.begun = nil } }
        // Reports the reason that a try gives late, or never.
        let looks = Task {
            while true {
                try await Task.sleep(for: longestTry)
                tell(nil)
            }
        }
        defer { looks.cancel() }
        let value = try await body()
        if state.withLock({ $0.told != nil }) {
            logger.notice("store.waited", metadata: ["place": "\(place)", "seconds": "\(begun.duration(to: .now).components.seconds)"])
        }
        return value
    }

    /// - Parameter reason: `nil`: as before.
    private func tell(_ reason: String?) {
        let (place, text) = state.withLock { state -> (String, String?) in
            guard state.begun != nil else { return ("", nil) }
            let now = ContinuousClock.now
            if let reason { state.reason = reason }
            if let told = state.told, told.reason == state.reason, told.at.duration(to: now) < reminder { return ("", nil) }
            state.told = (state.reason, now)
            return (state.place, state.reason)
        }
        if let text { logger.warning("store.waiting", metadata: ["place": "\(place)", "reason": "\(text)"]) }
    }
}

/// Between two tries of a start: 0.2 s, and about twice as long each time, up to a bound.
struct StartPause {
    static let shortest: Duration = .milliseconds(200)
    private var last: Duration = .zero

    /// - Parameter longest: At least 0.2 s.
    mutating func next(upTo longest: Duration = .milliseconds(2500)) -> Duration {
        last = min(max(last * 2, Self.shortest), longest)
        // Copies that lost their server at the same moment do not all come back at the same one.
        return max(last * Double.random(in: 0.5...1), Self.shortest)
    }
}

/// The first result that comes counts; one task waits for it.
final class FirstResult<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case come(Result<Value, any Error>)
    }

    private let state = Mutex(State.open)

    /// Runs what blocks on a thread of its own, where it holds up nobody. A task that is cancelled does not wait for it.
    /// - Throws: The error of the body, or `CancellationError`.
    static func ofThread(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let result = FirstResult()
        Thread.detachNewThread { result.come(Result { try body() }) }
        return try await withTaskCancellationHandler {
            try await result.wait()
        } onCancel: {
            result.come(.failure(CancellationError()))
        }
    }

    func come(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .open:
                state = .come(result)
                return nil
            case .awaited(let waiter):
                state = .come(result)
                return waiter
            case .come: return nil
            }
        }
        waiter?.resume(with: result)
    }

    func wait() async throws -> Value {
        try await withCheckedThrowingContinuation { waiter in
            let result = state.withLock { state -> Result<Value, any Error>? in
                guard case .come(let result) = state else {
                    state = .awaited(waiter)
                    return nil
                }
                return result
            }
            if let result { waiter.resume(with: result) }
        }
    }
}
