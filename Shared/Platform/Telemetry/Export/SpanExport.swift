internal import CoreMetrics
internal import Spans

/// Brings spans from their queue to the collector.
struct SpanExport: Sendable {
    /// How often a batch is tried before it is dropped.
    private static let attempts = 5
    private static let longestPause: Duration = .seconds(30)

    let queue: SpanQueue
    let exporter: OtlpExporter
    let resource: OtlpResource
    /// Counts spans that the collector did not take.
    let dropped: Counter
    /// Before the second attempt; doubled before each further one.
    var firstPause: Duration = .seconds(1)

    /// Exports what waits. Spans that end meanwhile wait for others: under load each export would else begin another one, of a few spans.
    /// - Throws: `CancellationError` when the program stops; what was not exported waits still.
    func empty() async throws {
        var left = queue.count
        while left > 0 {
            let batch = queue.next()
            if batch.isEmpty { return }
            left -= batch.count
            try await deliver(batch)
        }
    }

    private func deliver(_ batch: [FinishedSpan]) async throws {
        let body = OtlpTraces.request(batch, of: resource)
        var pause = firstPause
        for attempt in 1...Self.attempts {
            switch await exporter.send(body) {
            case .taken: return
            case .partly(let rejected): return dropped.increment(by: rejected)
            case .refused: return dropped.increment(by: batch.count)
            case .cancelled:
                queue.putBack(batch)
                throw CancellationError()
            case .notNow(let advice):
                guard attempt < Self.attempts else { return dropped.increment(by: batch.count) }
                do {
                    // Not all programs at once.
                    try await Task.sleep(for: min(advice ?? pause * Double.random(in: 0.8...1.2), Self.longestPause))
                } catch {
                    queue.putBack(batch)
                    throw error
                }
                pause *= 2
            }
        }
    }

    /// Exports what waits, each batch once.
    func flush(until end: ContinuousClock.Instant) async {
        while true {
            let batch = queue.next()
            if batch.isEmpty { return }
            let left = end - .now
            guard left > .zero, await exporter.send(OtlpTraces.request(batch, of: resource), timeLeft: left) == .taken else {
                dropped.increment(by: batch.count + queue.count)
                return
            }
        }
    }
}
