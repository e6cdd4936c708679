import Foundation
import Testing

@testable import LoadReporting

@Suite struct CompactHistogramTests {
    private func histogram(_ values: [(nanoseconds: Int64, times: Int)]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for (nanoseconds, times) in values { histogram.record(nanoseconds, times: times) }
        return histogram
    }

    private func again(_ histogram: LatencyHistogram) throws -> LatencyHistogram {
        let json = try JSONEncoder().encode([CompactHistogram(histogram)])
        var whole = LatencyHistogram()
        for part in try JSONDecoder().decode([CompactHistogram].self, from: json) { part.add(to: &whole) }
        return whole
    }

    @Test func keepsEachValueWithinFourInAThousandAndEachCount() throws {
        for exponent in 0..<41 {
            for factor in [1.0, 1.31, 1.5, 1.99] {
                let value = Int64(Double(Int64(1) << Int64(exponent)) * factor)
                let found = try again(histogram([(value, 7)]))
                #expect(found.count == 7)
                #expect(abs(Double(found.value(at: 50) - value)) <= max(0, 0.0055 * Double(value)), "\(value)")
            }
        }
    }

    @Test func theTextIsDistancesAndCounts() {
        #expect(CompactHistogram(histogram([(3, 1), (5, 2), (255, 1)])).text == "3 2*2 250")
        #expect(CompactHistogram(LatencyHistogram()).text.isEmpty && CompactHistogram(LatencyHistogram()).count == 0)
        #expect(CompactHistogram(histogram([(1_000_000, 3)])).text == "999424*3")
    }

    @Test(arguments: ["1*", "*1", "-5", "1*-1", "a", "1*2*3", "5 0", "99999999999999999999", "9007199254740993", "1*1125899906842625", "１"])
    func damagedOnesAreRefused(_ text: String) throws {
        let json = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([CompactHistogram].self, from: json) }
    }
}
