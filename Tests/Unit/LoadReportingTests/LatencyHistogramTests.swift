import LoadReporting
import Testing

@Suite struct LatencyHistogramTests {
    @Test func keepsThreeDigits() {
        var histogram = LatencyHistogram()
        for microseconds in 1...10_000 { histogram.record(Int64(microseconds) * 1000) }
        #expect(histogram.count == 10_000)
        #expect(abs(Double(histogram.value(at: 50)) - 5_000_000) / 5_000_000 < 0.001)
        #expect(abs(Double(histogram.value(at: 99)) - 9_900_000) / 9_900_000 < 0.001)
        #expect(abs(Double(histogram.longest) - 10_000_000) / 10_000_000 < 0.001)
        #expect(abs(Double(histogram.shortest) - 1000) / 1000 < 0.001)
    }

    @Test func anEmptyOneIsAllZero() {
        let summary = LatencyHistogram().summary
        #expect(summary.count == 0)
        #expect(summary.minNanoseconds == 0 && summary.maxNanoseconds == 0 && summary.meanNanoseconds == 0)
        #expect(summary.percentiles.allSatisfy { $0.nanoseconds == 0 })
        #expect(summary.histogram.values.isEmpty)
    }

    @Test func comesBackFromItsEncodedForm() {
        var histogram = LatencyHistogram()
        for exponent in 0..<41 { histogram.record(Int64(1) << Int64(exponent), times: exponent + 1) }
        let again = LatencyHistogram(histogram.encoded)
        #expect(again.encoded == histogram.encoded)
        #expect(again.summary == histogram.summary)
    }

    @Test func addsAnother() {
        var one = LatencyHistogram()
        var other = LatencyHistogram()
        one.record(10)
        other.record(2_000_000_000, times: 3)
        one.add(other)
        #expect(one.count == 4)
        #expect(one.shortest == 10)
        #expect(one.value(at: 100) == one.longest)
    }

    @Test func takesWhatIsOutOfRangeAsTheEndOfTheRange() {
        var histogram = LatencyHistogram()
        histogram.record(-5)
        histogram.record(.max)
        #expect(histogram.count == 2)
        #expect(histogram.shortest == 0)
        #expect(histogram.longest >= Int64(LatencyHistogram.highestNanoseconds))
    }
}
