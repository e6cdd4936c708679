internal import ContractRuntime
internal import CoreMetrics
public import Logging
public import OutboundHttp
internal import Spans
internal import Synchronization

/// Exports a program's spans and metrics for as long as it runs.
public final class TelemetryPipeline: Sendable {
    /// The counts of the program until now, those of one metric together.
    public typealias Metrics = @Sendable () -> [MetricSeries]

    /// For what waits when the program stops.
    static let farewell: Duration = .seconds(2)

    private let options: TelemetryOptions
    private let spans: SpanExport?
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation
    private let exporter: OtlpExporter?
    private let encoder: OtlpMetrics
    private let metrics: Metrics
    private let now: @Sendable () -> UInt64

    /// - Parameters:
    ///   - trustAnchors: DER; whom to trust at the collector; empty: the system's authorities.
    ///   - transport: Carries the exports.
    ///   - now: The moment in nanoseconds since 1970.
    public init(
        _ options: TelemetryOptions, of resource: OtlpResource, trustAnchors: [[UInt8]] = [], over transport: any OutboundTransport,
        logger: Logger, now: @escaping @Sendable () -> UInt64, metrics: @escaping Metrics
    ) {
        self.options = options
        self.metrics = metrics
        self.now = now
        let (wake, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.wake, self.waker) = (wake, waker)
        func exporter(_ signal: String, _ url: String) -> OtlpExporter {
            OtlpExporter(signal, to: url, options, trustAnchors: trustAnchors, over: transport, logger: logger)
        }
        encoder = OtlpMetrics(resource: resource, start: now())
        self.exporter = options.metricsURL.map { exporter("metrics", $0) }
        spans = options.tracesURL.map { url in
            let queue = SpanQueue(limit: options.queueSpans, batch: options.batchSpans, dropped: Self.dropped("queue_full")) { waker.yield() }
            return SpanExport(queue: queue, exporter: exporter("traces", url), resource: resource, dropped: Self.dropped("not_taken"))
        }
    }

    /// Takes spans.
    var recorder: (any SpanRecorder)? { spans?.queue }

    /// The program records spans from now on, where the options have an address for them.
    public func start() {
        guard let recorder else { return }
        TraceSampling.rule = options.sampler.rule
        Tracing.start(recorder)
    }

    private static func dropped(_ reason: String) -> Counter {
        Counter(label: "boxoffice_telemetry_spans_dropped_total", dimensions: [("reason", reason)])
    }

    /// Exports until it is cancelled.
    public func run() async {
        await withDiscardingTaskGroup { group in
            if let spans {
                group.addTask { await self.tick() }
                group.addTask {
                    for await _ in self.wake {
                        do { try await spans.empty() } catch { return }
                    }
                }
            }
            if let exporter {
                group.addTask {
                    while (try? await Task.sleep(for: self.options.metricInterval)) != nil { _ = await self.export(by: exporter) }
                }
            }
        }
    }

    /// No span waits longer for others.
    private func tick() async {
        while (try? await Task.sleep(for: options.batchDelay)) != nil { waker.yield() }
    }

    private func export(by exporter: OtlpExporter, timeLeft: Duration? = nil) async -> OtlpExporter.Outcome {
        await exporter.send(encoder.request(metrics(), time: now()), timeLeft: timeLeft)
    }

    /// Exports what is left, after `run`, for at most 2 s.
    public func finish() async {
        let end = ContinuousClock.now + Self.farewell
        await withDiscardingTaskGroup { group in
            if let spans { group.addTask { await spans.flush(until: end) } }
            if let exporter { group.addTask { _ = await self.export(by: exporter, timeLeft: Self.farewell) } }
        }
    }
}

/// Brings spans from their queue to the collector.
struct SpanExport: Sendable {
    /// A batch is tried this often before it is dropped.
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
