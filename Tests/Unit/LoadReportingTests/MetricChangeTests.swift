import Testing

@testable import LoadReporting

@Suite struct MetricChangeTests {
    private func snapshot(_ text: String, at time: Double) -> MetricSnapshot { MetricSnapshot(PrometheusText(text).samples, at: time) }

    @Test func aCounterBecomesARateOverAllItsSeries() {
        let change = MetricChange(
            before: snapshot("c_total{a=\"1\"} 10\nc_total{a=\"2\"} 5", at: 1), after: snapshot("c_total{a=\"1\"} 30\nc_total{a=\"2\"} 15", at: 3))
        #expect(change.rate("c_total") == 15)
        #expect(change.rates("c_total", by: "a") == ["1": 10, "2": 5])
        #expect(change.rate("absent_total") == nil)
        #expect(!change.wentBack)
    }

    @Test func aSeriesThatIsNewCountedFromZero() {
        let change = MetricChange(
            before: snapshot("c_total{code=\"ok\"} 10", at: 0), after: snapshot("c_total{code=\"ok\"} 10\nc_total{code=\"bad\"} 4", at: 2))
        #expect(change.rates("c_total", by: "code") == ["ok": 0, "bad": 2])
    }

    @Test func aCounterThatWentBackHasNoRate() {
        let change = MetricChange(before: snapshot("c_total 10", at: 0), after: snapshot("c_total 3", at: 1))
        #expect(change.rate("c_total") == nil)
        #expect(change.wentBack)
    }

    @Test func infiniteAndMissingValuesHaveNoRate() {
        let change = MetricChange(before: snapshot("c_total 1\nd_total NaN", at: 0), after: snapshot("c_total +Inf\nd_total 5", at: 1))
        #expect(change.rate("c_total") == nil)
        #expect(change.rate("d_total") == nil)
    }

    @Test func aHistogramGivesMeanAndQuantileOfWhatCameSince() {
        let before = "h_bucket{le=\"1\"} 100\nh_bucket{le=\"2\"} 100\nh_bucket{le=\"+Inf\"} 100\nh_sum 50\nh_count 100"
        let after = "h_bucket{le=\"1\"} 110\nh_bucket{le=\"2\"} 150\nh_bucket{le=\"+Inf\"} 200\nh_sum 350\nh_count 200"
        let change = MetricChange(before: snapshot(before, at: 0), after: snapshot(after, at: 1))
        #expect(change.mean("h") == 3)
        // 10 lie up to 1, 40 from 1 to 2: the 30th lies in the middle of these.
        #expect(change.quantile("h", 0.3) == 1.5)
        // Above all bounds: all that is known is that it is above 2.
        #expect(change.quantile("h", 0.99) == 2)
        #expect(change.quantile("absent", 0.5) == nil)
    }

    @Test func aHistogramThatTookNothingInHasNoMean() {
        let text = "h_bucket{le=\"+Inf\"} 7\nh_sum 5\nh_count 7"
        let change = MetricChange(before: snapshot(text, at: 0), after: snapshot(text, at: 1))
        #expect(change.mean("h") == nil)
        #expect(change.quantile("h", 0.5) == nil)
    }

    @Test func aLabelWithManyValuesDoesNotFillThePanel() {
        var track = MetricTrack([MetricPanel(title: "t", unit: .perSecond, lines: [.rates("c_total", by: "x")])])
        for time in 0..<3 {
            track.add(snapshot((0..<100).map { "c_total{x=\"\($0)\"} \(time * 10)" }.joined(separator: "\n"), at: Double(time)))
        }
        #expect(track.panels.first?.series.count == MetricTrack.linesPerPanel)
    }

    @Test func aScrapeThatFailedLeavesAGapAndAllLinesAreOfOneLength() throws {
        var track = MetricTrack([MetricPanel(title: "t", unit: .perSecond, lines: [.rate("c_total", name: "c"), .gauge("g", name: "g")])])
        track.add(snapshot("c_total 0", at: 0))
        track.add(snapshot("c_total 5\ng 1", at: 1))
        track.add(nil)
        track.add(snapshot("c_total 25", at: 3))
        let panel = try #require(track.panels.first)
        #expect(panel.series.map(\.name) == ["c", "g"])
        #expect(panel.series[0].values == [nil, 5, nil, 10])
        #expect(panel.series[1].values == [nil, 1, nil, nil])
    }

    @Test func countersGrowFromTheBeginOfTheMeasuredPart() {
        var track = MetricTrack([])
        track.add(snapshot("c_total 5\nidle_total 1", at: 0))
        track.begin()
        track.add(snapshot("c_total 12\nidle_total 1\nnew_total{a=\"b\"} 9", at: 1))
        #expect(track.counters() == [.init(name: "new_total{a=\"b\"}", growth: 9), .init(name: "c_total", growth: 7)])
    }
}
