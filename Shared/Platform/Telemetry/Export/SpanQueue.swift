internal import CoreMetrics
internal import Spans
internal import Synchronization

/// Spans that wait for their export, a bounded number. Nobody who ends a span waits: without room the span is dropped and counted.
final class SpanQueue: SpanRecorder {
    private let waiting = Mutex<[FinishedSpan]>([])
    private let limit: Int
    private let batch: Int
    private let dropped: Counter
    private let wake: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: Spans that may wait.
    ///   - batch: Spans of one export at most.
    ///   - dropped: Counts spans without room.
    ///   - wake: Called when there are enough for an export.
    init(limit: Int, batch: Int, dropped: Counter, wake: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.batch = batch
        self.dropped = dropped
        self.wake = wake
    }

    var count: Int { waiting.withLock { $0.count } }

    func take(_ span: FinishedSpan) {
        let count = waiting.withLock { waiting -> Int? in
            guard waiting.count < limit else { return nil }
            waiting.append(span)
            return waiting.count
        }
        guard let count else { return dropped.increment() }
        if count == batch { wake() }
    }

    /// The oldest, as many as one export takes; empty: there are none.
    func next() -> [FinishedSpan] {
        waiting.withLock { waiting in
            let first = Array(waiting.prefix(batch))
            waiting.removeFirst(first.count)
            return first
        }
    }

    /// Spans that were not exported are the first again.
    func putBack(_ spans: [FinishedSpan]) { waiting.withLock { $0.insert(contentsOf: spans, at: 0) } }
}
