import Testing

@testable import LoadReporting

@Suite struct PrometheusTextTests {
    @Test func readsSamplesWithLabelsEscapesAndTimes() {
        let text = PrometheusText(
            """
            # HELP a_total Things.
            # TYPE a_total counter
            a_total 12
            a_total{code="ok", method="Get\\"x\\"\\\\\\n"} 3.5e2 1395066363000
              b:c { d = "e" , } +Inf\r
            n NaN
            """)
        #expect(text.samples.count == 4)
        #expect(text.samples[0] == MetricSample(name: "a_total", labels: [:], value: 12))
        #expect(text.samples[1] == MetricSample(name: "a_total", labels: ["code": "ok", "method": "Get\"x\"\\\n"], value: 350))
        #expect(text.samples[2] == MetricSample(name: "b:c", labels: ["d": "e"], value: .infinity))
        #expect(text.samples[3].value.isNaN)
        #expect(text.unreadable == 0)
    }

    @Test(arguments: [
        "a", "a ", "1a 5", "a{ 1", "a{b} 1", "a{b=} 1", "a{b=\"c} 1", "a{b=\"c\" d=\"e\"} 1", "a{b=\"c\",b=\"d\"} 1", "a 1 2 3", "a 0x10",
        "a infinity",
        "a nan(1)", "a 1 x", "{} 1", "a{b=\"c\\", "é 1", "<html>", "a 1\u{0}",
    ])
    func leavesOutAndCountsWhatIsNoSample(_ line: String) {
        let text = PrometheusText("good 1\n\(line)\nalso_good 2")
        #expect(text.samples.map(\.name) == ["good", "also_good"])
        #expect(text.unreadable == 1)
    }

    @Test func keepsNoMoreThanItsLimit() {
        let text = PrometheusText((0..<30_000).map { "m\($0) 1" }.joined(separator: "\n"))
        #expect(text.isCut)
        #expect(text.samples.count == 20_000)
    }

    @Test func aCutOffAnswerKeepsItsWholeLines() {
        let text = PrometheusText("a_total 1\nb_total{x=\"y\"} 2\nc_total{x=\"")
        #expect(text.samples.map(\.name) == ["a_total", "b_total"])
        #expect(text.unreadable == 1)
    }
}
