import Testing

@testable import LoadReporting

@Suite struct AxisScaleTests {
    @Test(arguments: [(0.3, 0.5), (1, 1), (1.2, 2), (2.1, 2.5), (3, 5), (7, 10), (0.00031, 0.0005)])
    func aNiceStepIsARoundNumberNotBelow(_ step: Double, _ nice: Double) { #expect(abs(AxisScale.niceStep(step) - nice) < nice * 1e-9) }

    @Test func aLinearAxisEndsAtATickAboveTheLargestValue() {
        let scale = AxisScale(linearTo: 1993)
        #expect(scale.low == 0 && scale.high == 2000)
        #expect(scale.ticks == [0, 500, 1000, 1500, 2000])
        #expect(scale.place(500) == 0.25)
        #expect(scale.place(-5) == 0 && scale.place(9999) == 1)
    }

    @Test func aLogarithmicAxisCoversBothEndsAndPlacesByRatio() throws {
        let scale = AxisScale(logarithmicFrom: 180_000, to: 319_000_000)
        #expect(scale.low <= 180_000 && scale.high >= 319_000_000)
        let (one, ten, hundred) = (try #require(scale.place(1e6)), try #require(scale.place(1e7)), try #require(scale.place(1e8)))
        #expect(abs((ten - one) - (hundred - ten)) < 1e-12)
        #expect(scale.ticks.contains { abs($0 - 1e6) < 1 })
        #expect(scale.place(0) == 0)
    }

    @Test(arguments: [0, -1, .nan, .infinity, 1e300, 1e-300])
    func whatIsNoUsualNumberStillGivesAnAxis(_ value: Double) {
        for scale in [AxisScale(linearTo: value), AxisScale(logarithmicFrom: value, to: value), AxisScale(logarithmicFrom: 1, to: value)] {
            #expect(scale.high > scale.low)
            #expect(scale.place(.nan) == nil && scale.place(.infinity) == nil)
            #expect(scale.place(scale.low) == 0 && scale.place(scale.high) == 1)
        }
    }

    @Test(arguments: [(0, 0.0), (1, 90.0), (2, 99.0), (3, 99.9)])
    func aPlaceOnThePercentileAxisLeavesATenthAbove(_ place: Double, _ percentile: Double) {
        #expect(abs(PercentilePlace.percentile(place) - percentile) < 1e-9)
        #expect(PercentilePlace.places(to: 3.01).last == 3.01)
    }
}
