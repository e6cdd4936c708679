import Testing

@testable import LoadReporting

@Suite struct QuantityTests {
    @Test(arguments: [
        (0.0, "0"), (999, "999 ns"), (1e3, "1.00 µs"), (411_700, "412 µs"), (999_700, "1.00 ms"), (4_213_000, "4.21 ms"), (1.2e9, "1.20 s"),
        (61e9, "61.0 s"),
    ])
    func timesHaveThreeDigits(_ nanoseconds: Double, _ text: String) { #expect(Quantity.time(nanoseconds) == text) }

    @Test(arguments: [(0.0, "0"), (0.0125, "0.0125"), (12.5, "12.5"), (999.4, "999"), (9840, "9,840"), (1_250_000, "1.25 M"), (-1234, "-1,234")])
    func numbers(_ value: Double, _ text: String) { #expect(Quantity.number(value) == text) }

    @Test func aShareAboveNothingIsNeverNothing() {
        #expect(Quantity.share(0) == "0 %")
        #expect(Quantity.share(0.000001) == "< 0.001 %")
        #expect(Quantity.share(0.125) == "12.5 %")
    }

    @Test func bytesSpansAndPercentiles() {
        #expect(Quantity.bytes(40_000_000) == "38.1 MiB")
        #expect(Quantity.bytes(12) == "12 B")
        #expect(Quantity.span(150_000_000_000) == "2 min 30 s")
        #expect(Quantity.span(10_000_000_000) == "10.0 s")
        #expect(Quantity.percentile(99.9) == "99.9" && Quantity.percentile(50) == "50")
        #expect(Quantity.number(.nan) == "–" && Quantity.time(Double.infinity) == "–")
    }
}
