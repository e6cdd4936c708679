import CoreMetrics
import Testing

@testable import ServiceKit
@testable import UsageCounting

/// Metrics with the label of an upstream, as a program keeps them.
@Suite("Counts by upstream")
struct UpstreamSeriesTests {
    private let metrics = PrometheusMetrics()

    private var told: [String] {
        metrics.text().split(separator: "\n").map(String.init).filter { $0.hasPrefix("boxoffice_test_total") }
    }

    @Test("combinations that fit are kept apart, later ones are the other upstream's, and each metric has room of its own")
    func bounds() {
        let series = UpstreamSeries(most: 3, factory: metrics)
        for upstream in ["a", "b", "c", "d", "a"] { series.count("boxoffice_test_total", upstream, ["outcome": "ok"]) }
        series.count("boxoffice_test_total", "a", ["outcome": "open"], by: 4)
        series.count("boxoffice_test_total", "b", ["outcome": "open"])
        series.record(.milliseconds(20), "boxoffice_test_seconds", "d", ["operation": "list"])
        #expect(
            told == [
                #"boxoffice_test_total{outcome="ok",upstream="a"} 2"#, #"boxoffice_test_total{outcome="ok",upstream="b"} 1"#,
                #"boxoffice_test_total{outcome="ok",upstream="c"} 1"#, #"boxoffice_test_total{outcome="ok",upstream="other"} 1"#,
                #"boxoffice_test_total{outcome="open",upstream="other"} 5"#,
            ])
        #expect(metrics.text().contains(#"boxoffice_test_seconds_count{operation="list",upstream="d"} 1"#))
    }

    @Test("a hundred upstreams that fail in every way stay below what a metric may have")
    func staysBelow() {
        let series = UpstreamSeries(factory: metrics)
        for upstream in 0..<100 {
            for operation in 0..<14 {
                for outcome in 0..<10 {
                    series.count("boxoffice_test_total", "u\(upstream)", ["operation": "\(operation)", "outcome": "\(outcome)"])
                }
            }
        }
        #expect(told.count == 990)
        #expect(metrics.text().contains("boxoffice_metrics_dropped_total 0\n"))
    }
}
