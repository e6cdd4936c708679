public import EntitlementClient
public import Foundation
internal import Octets
internal import Synchronization

/// A device's clock that runs as the real one does, until a test sets it or lets time pass at once.
public final class SimulatedClock: ClientClock {
    private struct State {
        /// Seconds that the device's time is ahead of the real one.
        var ahead: TimeInterval
        /// Time that passed at once.
        var skipped: Duration = .zero
        var isHurried = false
        var sleepers: [Int: AsyncStream<Void>.Continuation] = [:]
        var count = 0
    }

    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// - Parameter now: The device's time at the start; default: the real one.
    public init(now: Date? = nil) { state = Mutex(State(ahead: now?.timeIntervalSinceNow ?? 0)) }

    public var now: Date { Date().addingTimeInterval(state.withLock { $0.ahead }) }
    public var uptime: Duration { ContinuousClock.now - start + state.withLock { $0.skipped } }

    /// Sets the device's clock wrong; no time passes.
    /// - Parameter seconds: Against the real time; negative: behind it.
    public func setAhead(_ seconds: TimeInterval) { state.withLock { $0.ahead = seconds } }

    /// Lets time pass at once: the device's time advances, and every sleep that is shorter ends.
    public func pass(_ duration: Duration) {
        change { state in
            state.ahead += duration / .seconds(1)
            state.skipped += duration
        }
    }

    /// While true, every sleep ends at once, with ``uptime`` advanced by its duration; the device's time does not change.
    public var isHurried: Bool {
        get { state.withLock { $0.isHurried } }
        set { change { $0.isHurried = newValue } }
    }

    public func sleep(for duration: Duration) async throws {
        let end = uptime + duration
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = enter(continuation)
        defer { leave(id) }
        var changes = stream.makeAsyncIterator()
        while true {
            try Task.checkCancellation()
            let rest = end - uptime
            guard rest > .zero else { return }
            if skip(rest) { return await Task.yield() }
            let alarm = Task {
                try? await Task.sleep(for: rest)
                continuation.yield()
            }
            _ = await changes.next()
            alarm.cancel()
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let sleepers = state.withLock { state in
            change(&state)
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.yield() }
    }

    /// - Returns: False when time passes as usual.
    private func skip(_ rest: Duration) -> Bool {
        state.withLock { state in
            guard state.isHurried else { return false }
            state.skipped += rest
            return true
        }
    }

    private func enter(_ sleeper: AsyncStream<Void>.Continuation) -> Int {
        state.withLock { state in
            state.count += 1
            state.sleepers[state.count] = sleeper
            return state.count
        }
    }

    private func leave(_ id: Int) { state.withLock { _ = $0.sleepers.removeValue(forKey: id) } }
}

/// A device's network: carries requests by another transport, and fails as tests set it.
public final class SimulatedNetwork: HTTPTransport {
    /// Something that goes wrong.
    public struct Fault: Sendable, Hashable {
        /// How.
        public enum Kind: Sendable, Hashable {
            /// There is no connection.
            case unreachable
            /// The server's certificate cannot be trusted.
            case insecure
            /// A page of the hotel's network instead of an answer: status 200, HTML.
            case captivePortal
            /// An answer of that HTTP status, with an empty JSON object.
            /// - Parameter retryAfter: Seconds, of the header `Retry-After`.
            case status(Int, retryAfter: Int? = nil)
            /// The answer comes later by this time.
            case slow(Duration)
        }

        public var kind: Kind
        /// Only requests with a path that begins so.
        public var path: String
        /// How many requests; `nil`: until the faults are removed.
        public var times: Int?

        /// - Parameters:
        ///   - kind: The fault.
        ///   - path: Only requests with a path that begins so; default: all.
        ///   - times: How many requests; `nil`: until the faults are removed.
        public init(_ kind: Kind, path: String = "/", times: Int? = nil) { (self.kind, self.path, self.times) = (kind, path, times) }
    }

    private struct State {
        var faults: [Fault] = []
        var requests = 0
    }

    private let transport: any HTTPTransport
    private let clock: any ClientClock
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: Carries what gets through.
    ///   - clock: Measures slowness.
    public init(_ transport: any HTTPTransport, clock: any ClientClock = SystemClientClock()) { (self.transport, self.clock) = (transport, clock) }

    /// The device has sent this many requests.
    public var requests: Int { state.withLock { $0.requests } }

    /// Adds a fault behind those that are there; the first that fits a request counts.
    public func add(_ fault: Fault) { state.withLock { $0.faults.append(fault) } }
    /// Removes all faults.
    public func removeFaults() { state.withLock { $0.faults = [] } }

    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        switch fault(of: request.url.path) {
        case nil: return try await transport.send(request)
        case .unreachable: throw TransportFailure(.unreachable, "simulated: no connection")
        case .insecure: throw TransportFailure(.insecure, "simulated: a certificate that cannot be trusted")
        case .captivePortal:
            let page = "<!doctype html><title>Welcome</title><p>Sign in to the hotel's network."
            return HTTPResponse(status: 200, headers: [HTTPHeader("Content-Type", "text/html")], body: Data(page.utf8))
        case .status(let status, let retryAfter):
            let wait = retryAfter.map { [HTTPHeader("Retry-After", "\($0)")] } ?? []
            return HTTPResponse(status: status, headers: [HTTPHeader("Content-Type", "application/json")] + wait, body: Data("{}".utf8))
        case .slow(let pause):
            try await clock.sleep(for: pause)
            return try await transport.send(request)
        }
    }

    private func fault(of path: String) -> Fault.Kind? {
        state.withLock { state in
            state.requests += 1
            guard let index = state.faults.firstIndex(where: { path.hasPrefix($0.path) }) else { return nil }
            let fault = state.faults[index]
            if let times = fault.times {
                state.faults[index].times = times - 1
                if times <= 1 { state.faults.remove(at: index) }
            }
            return fault.kind
        }
    }
}
