internal import Foundation

extension LoadReport {
    var percentileChart: Chart? {
        var curves = [("from due to answered", totals.responseTime, 0), ("from sent to answered", totals.serviceTime, 2)]
        if let iterationTime { curves.append(("whole iteration", iterationTime, 3)) }
        return Self.percentiles(
            "Percentile curve", "How long the slowest calls took: read p99.9 as one call in a thousand being slower. Both axes logarithmic.", curves)
    }

    /// The steps of a scenario side by side.
    var stepPercentileChart: Chart? {
        guard operations.count > 1 else { return nil }
        let curves = operations.prefix(ChartDrawing.palette).enumerated().map { ($1.name, $1.responseTime, $0) }
        return Self.percentiles("Percentile curve of each step", "From when a call was due to its answer. Both axes logarithmic.", curves)
    }

    static func percentiles(_ title: String, _ caption: String, _ curves: [(name: String, latencies: Latencies, colour: Int)]) -> Chart? {
        let shown = curves.filter { $0.latencies.count > 0 }
        guard let most = shown.map(\.latencies.count).max() else { return nil }
        // Up to where one value is left above.
        let end = max(1, log10(Double(most)))
        let places = PercentilePlace.places(to: end)
        let lines = shown.map { curve in
            Chart.Line(name: curve.name, values: PercentilePlace.values(of: curve.latencies, at: places), colour: curve.colour)
        }
        let ticks = (0...Int(end.rounded(.up))).map(Double.init)
        return Chart(
            title: title, caption: caption, x: places, xScale: AxisScale(exactly: 0...end, ticks: ticks.filter { $0 <= end }), xTitle: "percentile",
            xText: { Quantity.percentile(PercentilePlace.percentile($0)) }, lines: lines,
            yScale: AxisScale(logarithmicFrom: Chart.smallest(lines) ?? 1, to: Chart.tallest(lines)), yText: { Quantity.time($0) })
    }
}

/// Places on the axis of HdrHistogram's plots: equal steps each leave a tenth of the calls above.
enum PercentilePlace {
    /// 0 is percentile 0, 1 is 90, 2 is 99, 3 is 99.9.
    static func percentile(_ place: Double) -> Double { 100 * (1 - pow(10, -place)) }

    /// The time at each place; none where less than one value would lie above.
    static func values(of latencies: Latencies, at places: [Double]) -> [Double?] {
        let (histogram, total) = (latencies.histogram, Double(latencies.count))
        var (bucket, below) = (0, 0.0)
        return places.map { place in
            let rank = total * (1 - pow(10, -place))
            // The last place may miss the number of values by a rounding.
            guard total > 0, place <= log10(total) + 1e-9 else { return nil }
            if rank > total - 1 + 1e-9 { return Double(latencies.maxNanoseconds) }
            while bucket < histogram.counts.count - 1, below + Double(histogram.counts[bucket]) < rank {
                below += Double(histogram.counts[bucket])
                bucket += 1
            }
            return bucket < histogram.values.count ? Double(histogram.values[bucket]) : nil
        }
    }

    /// 20 for each tenfold step.
    static func places(to end: Double) -> [Double] {
        let steps = Int((end * 20).rounded(.down))
        let places = (0...max(1, steps)).map { Double($0) / 20 }
        return places.last.map { $0 < end - 1e-9 } == true ? places + [end] : places
    }
}
