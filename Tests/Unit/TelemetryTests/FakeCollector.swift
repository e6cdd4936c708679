import CoreMetrics
import Logging
import OutboundHttp
import Synchronization

/// A collector that answers as a test tells it, without a network.
final class FakeCollector: OutboundTransport {
    private struct State {
        var requests: [OutboundRequest] = []
        var answers: [Result<OutboundAnswer, OutboundFailure>] = []
        var last: Result<OutboundAnswer, OutboundFailure> = .success(OutboundAnswer(status: 200))
        var delay: Duration = .zero
        var meanwhile: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    var requests: [OutboundRequest] { state.withLock { $0.requests } }

    /// Answers with these, one after another, and with the last of them for ever.
    func answers(_ answers: [Result<OutboundAnswer, OutboundFailure>], after delay: Duration = .zero) {
        state.withLock { state in
            state.answers = answers
            if let last = answers.last { state.last = last }
            state.delay = delay
        }
    }

    /// Done during each request.
    func meanwhile(_ work: @escaping @Sendable () -> Void) { state.withLock { $0.meanwhile = work } }

    func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        let (answer, delay, meanwhile) = state.withLock { state in
            state.requests.append(request)
            return (state.answers.isEmpty ? state.last : state.answers.removeFirst(), state.delay, state.meanwhile)
        }
        meanwhile()
        if delay > .zero {
            do { try await Task.sleep(for: min(delay, timeLeft)) } catch { throw OutboundFailure(.cancelled) }
            if delay > timeLeft { throw OutboundFailure(.budgetSpent) }
        }
        return try answer.get()
    }
}

/// Counts by itself, whatever the process's metrics are.
final class TestCounter: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }
    var counter: Counter { Counter(label: "test", dimensions: [], handler: self) }

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
}

/// Events of a log.
final class Events: LogHandler, @unchecked Sendable {
    private let events = Mutex<[String]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    var all: [String] { events.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in self } }

    func log(event: LogEvent) { events.withLock { $0.append("\(event.level) \(event.message)") } }
}
