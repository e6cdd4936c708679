import Testing

@testable import LoadTool

@Suite struct QuantityTextTests {
    @Test(
        arguments: [
            ("10s", 10_000_000_000), ("250ms", 250_000_000), ("1.5s", 1_500_000_000), ("2m", 120_000_000_000), ("1h", 3_600_000_000_000),
            ("250us", 250_000),
            ("250µs", 250_000), ("5", 5_000_000_000), ("0s", 0), ("17ns", 17),
        ] as [(String, Nanoseconds)])
    func readsTimes(_ text: String, _ expected: Nanoseconds) { #expect(QuantityText.nanoseconds(text) == expected) }

    @Test(arguments: ["", "s", "-1s", "1 s", "1d", "1e3s", "١s", "1.2.3s", "ms", "99999999999h"])
    func refusesOtherTimes(_ text: String) { #expect(QuantityText.nanoseconds(text) == nil) }

    @Test(arguments: [("1000", 1000), ("2.5k", 2500), ("600/m", 10), ("1k/s", 1000), ("3600/h", 1), ("1M", 1e6)] as [(String, Double)])
    func readsRates(_ text: String, _ expected: Double) { #expect(QuantityText.rate(text) == expected) }

    @Test(arguments: ["", "0", "-5", "k", "1000/d", "ten", "1e400", "nan", "inf"])
    func refusesOtherRates(_ text: String) { #expect(QuantityText.rate(text) == nil) }
}
