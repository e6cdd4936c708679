import CoreMetrics
import Testing

@testable import ServiceKit

@Suite("Metrics")
struct PrometheusMetricsTests {
    private let metrics = PrometheusMetrics(seriesLimit: 3)

    private var lines: [String] { metrics.text().split(separator: "\n").map(String.init) }

    @Test("a counter counts, under one name for equal labels")
    func counters() {
        metrics.makeCounter(label: "boxoffice_test_total", dimensions: [("b", "2"), ("a", "1")]).increment(by: 2)
        metrics.makeCounter(label: "boxoffice_test_total", dimensions: [("a", "1"), ("b", "2")]).increment(by: 3)
        #expect(lines.contains("# TYPE boxoffice_test_total counter"))
        #expect(lines.contains(#"boxoffice_test_total{a="1",b="2"} 5"#))
    }

    @Test("what is known of a metric stands before its series, once")
    func help() {
        for code in ["ok", "unavailable"] {
            metrics.makeCounter(label: "boxoffice_rpc_server_calls_total", dimensions: [("code", code)]).increment(by: 1)
        }
        let heads = lines.filter { $0.hasPrefix("#") && $0.contains("rpc_server") }
        #expect(
            heads == [
                "# HELP boxoffice_rpc_server_calls_total Calls from other services, by method and code.",
                "# TYPE boxoffice_rpc_server_calls_total counter",
            ])
        #expect(ProcessMetrics.text().contains("# HELP boxoffice_build_info Always 1"))
    }

    @Test("a gauge shows its last value, a meter goes up and down")
    func gauges() {
        metrics.makeRecorder(label: "depth", dimensions: [], aggregate: false).record(Int64(7))
        let meter = metrics.makeMeter(label: "open", dimensions: [])
        meter.increment(by: 3)
        meter.decrement(by: 1)
        #expect(lines.contains("depth 7.0"))
        metrics.makeRecorder(label: "depth", dimensions: [], aggregate: false).record(Double.infinity)
        #expect(lines.contains("depth +Inf"))
        #expect(lines.contains("open 2.0"))
        #expect(lines.contains("# TYPE depth gauge"))
    }

    @Test("a gauge whose thing is gone goes, and leaves room for another; a counter stays")
    func gone() {
        let gauges = ["a", "b", "c"].map { name in (name, metrics.makeRecorder(label: "lag", dimensions: [("of", name)], aggregate: false)) }
        for (_, gauge) in gauges { gauge.record(Int64(1)) }
        metrics.destroyRecorder(gauges[1].1)
        metrics.makeRecorder(label: "lag", dimensions: [("of", "d")], aggregate: false).record(Int64(2))
        #expect(lines.filter { $0.hasPrefix("lag{") } == [#"lag{of="a"} 1.0"#, #"lag{of="c"} 1.0"#, #"lag{of="d"} 2.0"#])
        #expect(lines.contains("boxoffice_metrics_dropped_total 0"))
        let counter = metrics.makeCounter(label: "calls_total", dimensions: [])
        counter.increment(by: 1)
        metrics.destroyCounter(counter)
        #expect(lines.contains("calls_total 1"))
    }

    @Test("a timer is a histogram in seconds with cumulative buckets")
    func timers() {
        let timer = metrics.makeTimer(label: "took_seconds", dimensions: [("m", "x")])
        timer.recordNanoseconds(2_000_000)
        timer.recordNanoseconds(30_000_000)
        timer.recordNanoseconds(99_000_000_000)
        #expect(lines.contains("# TYPE took_seconds histogram"))
        #expect(lines.contains(#"took_seconds_bucket{m="x",le="0.001"} 0"#))
        #expect(lines.contains(#"took_seconds_bucket{m="x",le="0.0025"} 1"#))
        #expect(lines.contains(#"took_seconds_bucket{m="x",le="0.05"} 2"#))
        #expect(lines.contains(#"took_seconds_bucket{m="x",le="10.0"} 2"#))
        #expect(lines.contains(#"took_seconds_bucket{m="x",le="+Inf"} 3"#))
        #expect(lines.contains(#"took_seconds_count{m="x"} 3"#))
        #expect(lines.contains(#"took_seconds_sum{m="x"} 99.032"#))
    }

    @Test("label values cannot break the format")
    func escapesLabels() {
        metrics.makeCounter(label: "odd-name.total", dimensions: [("l", "a\"b\\c\nd")]).increment(by: 1)
        #expect(lines.contains(#"odd_name_total{l="a\"b\\c\nd"} 1"#))
    }

    @Test("label combinations are bounded; those beyond the bound are counted, not kept")
    func boundsSeries() {
        for number in 0..<10 { metrics.makeCounter(label: "many_total", dimensions: [("id", "\(number)")]).increment(by: 1) }
        #expect(lines.filter { $0.hasPrefix("many_total{") }.count == 3)
        #expect(lines.contains("boxoffice_metrics_dropped_total 7"))
    }

    @Test("the process tells its memory and its time")
    func processMetrics() throws {
        let lines = ProcessMetrics.text().split(separator: "\n")
        let memory = try #require(lines.first { $0.hasPrefix("boxoffice_process_resident_bytes ") }?.split(separator: " ").last)
        #expect(try #require(Int(memory)) > 1_000_000)
        #expect(lines.contains { $0.hasPrefix("boxoffice_process_cpu_seconds_total ") })
    }
}
