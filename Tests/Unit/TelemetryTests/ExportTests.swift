import Foundation
import OtlpReceiver
import OutboundHttp
import Synchronization
import Testing

@testable import Telemetry

@Suite("Export")
struct ExportTests {
    private let collector = FakeCollector()
    private let events = Events()
    private let dropped = TestCounter()

    private func export(limit: Int = 100, batch: Int = 10, options: TelemetryOptions = TelemetryOptions()) -> SpanExport {
        let queue = SpanQueue(limit: limit, batch: batch, dropped: dropped.counter) {}
        let exporter = OtlpExporter("traces", to: "http://collector/v1/traces", options, trustAnchors: [], over: collector, logger: events.logger)
        var export = SpanExport(queue: queue, exporter: exporter, resource: Samples.resource, dropped: dropped.counter)
        export.firstPause = .milliseconds(1)
        return export
    }

    private func fill(_ export: SpanExport, _ count: Int) { for number in 0..<count { export.queue.take(Samples.span(UInt64(number + 1))) } }

    private func names(_ request: OutboundRequest) throws -> [String] {
        let spans = try Samples.object(request.body ?? []).at("resourceSpans.0.scopeSpans.0.spans") as? [NSDictionary] ?? []
        return spans.compactMap { $0["spanId"] as? String }
    }

    @Test("spans go in batches, the oldest first, with the headers that were set")
    func batches() async throws {
        var options = TelemetryOptions()
        options.headers = [.init("api-key", "k")]
        let export = export(options: options)
        fill(export, 25)
        try await export.empty()
        #expect(try collector.requests.map { try names($0).count } == [10, 10, 5])
        let first = collector.requests[0]
        #expect(try names(first).first == "0000000000000001" && first.method == .post && first.url == "http://collector/v1/traces")
        #expect(first.headers.map { "\($0.name): \($0.value)" } == ["Content-Type: application/json", "Accept: application/json", "api-key: k"])
        #expect(dropped.value == 0 && events.all.isEmpty && export.queue.count == 0)
    }

    @Test("spans that end during an export wait for others, and begin no further export")
    func waitsForOthers() async throws {
        let export = export()
        collector.meanwhile { fill(export, 3) }
        fill(export, 15)
        try await export.empty()
        #expect(try collector.requests.map { try names($0).count } == [10, 8])
        #expect(export.queue.count == 3 && dropped.value == 0)
    }

    @Test("without room spans are dropped and counted, and who makes them does not wait")
    func bounded() async throws {
        let export = export(limit: 50, batch: 10)
        await withTaskGroup { group in for _ in 0..<8 { group.addTask { fill(export, 1000) } } }
        #expect(export.queue.count == 50 && dropped.value == 7950)
    }

    @Test("a full batch wakes the export once")
    func wakes() {
        let woken = TestCounter()
        let queue = SpanQueue(limit: 100, batch: 3, dropped: dropped.counter) { woken.increment(by: 1) }
        for number in 1...5 { queue.take(Samples.span(UInt64(number))) }
        #expect(woken.value == 1)
        _ = queue.next()
        queue.take(Samples.span())
        #expect(woken.value == 2)
    }

    @Test(
        "what may pass is tried again; the log has a line when it begins and one when it ends",
        arguments: [
            Result<OutboundAnswer, OutboundFailure>.failure(OutboundFailure(.notSent, cause: "refused")), .failure(OutboundFailure(.budgetSpent)),
            .success(OutboundAnswer(status: 503)), .success(OutboundAnswer(status: 429, headers: [("Retry-After", "0")])),
        ])
    func triesAgain(_ answer: Result<OutboundAnswer, OutboundFailure>) async throws {
        let export = export()
        collector.answers([answer, answer, answer, .success(OutboundAnswer(status: 200, body: Array(#"{"partialSuccess":null}"#.utf8)))])
        fill(export, 3)
        try await export.empty()
        #expect(collector.requests.count == 4 && dropped.value == 0)
        #expect(events.all == ["warning telemetry.not_taken", "notice telemetry.taken_again"])
    }

    @Test("a collector that stays away costs the spans, and one line")
    func staysAway() async throws {
        let export = export()
        collector.answers([.failure(OutboundFailure(.notSent))])
        fill(export, 30)
        try await export.empty()
        #expect(collector.requests.count == 15 && dropped.value == 30 && events.all == ["warning telemetry.not_taken"])
    }

    @Test("what is refused is not tried again; what is taken in part is counted")
    func refused() async throws {
        let export = export()
        let partial = #"{"partialSuccess":{"rejectedSpans":"4","errorMessage":"too old"}}"#
        collector.answers([
            .success(OutboundAnswer(status: 400)), .success(OutboundAnswer(status: 200, body: Array(partial.utf8))),
            .success(OutboundAnswer(status: 200)),
        ])
        fill(export, 30)
        try await export.empty()
        #expect(collector.requests.count == 3 && dropped.value == 14)
        #expect(events.all == ["warning telemetry.not_taken", "notice telemetry.taken_again"])
    }

    @Test("what is under way when the program stops waits for the farewell")
    func cancelled() async throws {
        let export = export()
        collector.answers([.success(OutboundAnswer(status: 200))], after: .seconds(60))
        fill(export, 7)
        let work = Task { try await export.empty() }
        while collector.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(export.queue.count == 7 && dropped.value == 0)
        collector.answers([.success(OutboundAnswer(status: 200))])
        await export.flush(until: .now + .seconds(60))
        #expect(export.queue.count == 0 && collector.requests.count == 2 && dropped.value == 0)
    }

    @Test("the farewell ends in time, whatever the collector does; what is left is counted")
    func farewell() async throws {
        let export = export()
        collector.answers([.success(OutboundAnswer(status: 200))], after: .seconds(60))
        fill(export, 25)
        let begun = ContinuousClock.now
        await export.flush(until: begun + .milliseconds(200))
        #expect(ContinuousClock.now - begun < .seconds(20))
        #expect(dropped.value == 25 && collector.requests.count == 1)
    }

    @Test("a whole pipeline: spans and metrics arrive at a collector over HTTP, the last ones when it stops")
    func pipeline() async throws {
        let receiver = OtlpReceiver()
        try await receiver.start()
        var options = TelemetryOptions()
        options.export(to: receiver.address)
        options.batchDelay = .milliseconds(20)
        options.metricInterval = .milliseconds(100)
        let transport = OutboundHttp()
        let counted = Mutex<Int64>(1)
        let pipeline = TelemetryPipeline(options, of: Samples.resource, over: transport, logger: events.logger, now: { 7 }) {
            [MetricSeries("boxoffice_test_total", .count(counted.withLock { $0 }))]
        }
        let running = Task { await pipeline.run() }
        pipeline.recorder?.take(Samples.span(1, name: "first"))
        for _ in 0..<1000 where receiver.spans.isEmpty || receiver.metrics.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        running.cancel()
        await running.value
        pipeline.recorder?.take(Samples.span(2, name: "last"))
        receiver.answers(.init(200))
        // A request that was under way may arrive yet: the last count has a value of its own.
        counted.withLock { $0 = 4711 }
        await pipeline.finish()
        await transport.shutdown()
        #expect(receiver.spans.map(\.name) == ["first", "last"] && receiver.spans.allSatisfy { $0.service == "gateway" })
        #expect(receiver.metrics == ["gateway boxoffice_test_total"])
        let last = receiver.requests.filter { $0.path == "/v1/metrics" && String(decoding: $0.body, as: UTF8.self).contains("4711") }
        #expect(last.count == 1, "what was counted last is told")
        #expect(receiver.requests.allSatisfy { $0.headers["content-type"] == "application/json" })
        await receiver.stop()
        #expect(events.all.isEmpty)
    }

    @Test("nobody listens: the pipeline runs and stops, and says so once for each signal")
    func nobody() async throws {
        var options = TelemetryOptions()
        options.export(to: "http://127.0.0.1:1")
        options.batchDelay = .milliseconds(5)
        options.metricInterval = .milliseconds(100)
        let transport = OutboundHttp()
        let pipeline = TelemetryPipeline(options, of: Samples.resource, over: transport, logger: events.logger, now: { 7 }) { [] }
        let running = Task { await pipeline.run() }
        for number in 1...5000 { pipeline.recorder?.take(Samples.span(UInt64(number))) }
        for _ in 0..<1000 where events.all.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        try await Task.sleep(for: .milliseconds(300))
        running.cancel()
        await running.value
        let begun = ContinuousClock.now
        await pipeline.finish()
        await transport.shutdown()
        #expect(ContinuousClock.now - begun < .seconds(20))
        #expect(events.all == ["warning telemetry.not_taken", "warning telemetry.not_taken"])
    }
}
