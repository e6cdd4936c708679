import Catalogue
import Contracts
import CoreMetrics
import Logging
import Testing

@testable import ServiceKit
@testable import UsageCounting

/// Counts by MVPD, as the metrics of a program keep them.
@Suite("Counts by MVPD")
struct MvpdCounterTests {
    private let metrics = PrometheusMetrics()
    private let lines = LogLines()

    private func counter(_ mvpds: [Mvpd], most: Int = MvpdCounter.most) -> MvpdCounter {
        MvpdCounter(
            "boxoffice_test_total", catalogue: FixedCatalogue(Configuration(mvpds: mvpds)), most: most, logger: lines.logger(), factory: metrics)
    }

    private var told: [String] {
        metrics.text().split(separator: "\n").map(String.init).filter { $0.hasPrefix("boxoffice_test_total") }
    }

    @Test("an MVPD has its name, two thousand behind a proxy have one, an upstream's have one, and what the catalogue lacks has none")
    func names() {
        let proxied = (0..<2000).map { Mvpd(id: "Small\($0)", isProxied: true, proxyMvpdID: "BigProxy") }
        let counter = counter([Mvpd(id: "NorthCable"), Mvpd(id: "BigProxy")] + proxied)
        counter.count(.good, mvpd: "NorthCable")
        counter.count(.begun, mvpd: "NorthCable")
        for mvpd in proxied { counter.count(.bad, mvpd: mvpd.id) }
        counter.count(.bad, mvpd: "BigProxy")
        counter.count(.bad, mvpd: "Stranger")
        counter.count(.good, upstream: "vendor")
        #expect(
            told == [
                #"boxoffice_test_total{mvpd="BigProxy",result="bad"} 2001"#, #"boxoffice_test_total{mvpd="NorthCable",result="begun"} 1"#,
                #"boxoffice_test_total{mvpd="NorthCable",result="good"} 1"#, #"boxoffice_test_total{mvpd="upstream vendor",result="good"} 1"#,
            ])
        #expect(lines.all.isEmpty)
    }

    @Test("the first 300 names are kept apart, the others are one, and the log says so once")
    func others() {
        let mvpds = (0..<400).map { Mvpd(id: "M\($0)") }
        let counter = counter(mvpds)
        for mvpd in mvpds {
            for result in [MvpdCounter.Result.begun, .good, .bad] { counter.count(result, mvpd: mvpd.id) }
        }
        #expect(told.count == 903)
        #expect(told.contains(#"boxoffice_test_total{mvpd="M299",result="bad"} 1"#))
        #expect(told.contains(#"boxoffice_test_total{mvpd="other",result="bad"} 100"#))
        #expect(lines.all.count == 1 && lines.field("event", of: "metrics.mvpd_names_used_up") != nil)
        #expect(metrics.text().contains("boxoffice_metrics_dropped_total 0\n"))
        counter.count(.good, mvpd: "M5")
        #expect(told.contains(#"boxoffice_test_total{mvpd="M5",result="good"} 2"#), "a known name goes on")
    }
}
