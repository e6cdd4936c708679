internal import ContractRuntime
internal import CoreMetrics
public import Logging
public import OutboundHttp
internal import Spans

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
