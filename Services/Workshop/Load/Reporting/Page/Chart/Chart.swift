/// The content of a chart; `ChartDrawing` draws it.
struct Chart: Sendable {
    struct Line: Sendable {
        enum Style: Sendable {
            case line
            /// The wanted values, next to the measured ones.
            case dashed
            /// A line with its area down to the axis.
            case area
            /// Bars on top of those of the lines before it.
            case stacked
            case points
        }

        var name: String
        var values: [Double?]
        var style: Style = .line
        /// Place in the palette; the same thing has the same colour in all charts.
        var colour: Int
    }

    /// A level or a moment worth a line of its own.
    struct Mark: Sendable {
        var value: Double
        var label: String
    }

    /// Several values are combined in one of these ways when there are more than the page has room for.
    enum Condensing: Sendable {
        case largest
        case mean
    }

    var title: String
    /// One sentence that says what there is to see; also read to people who do not see the chart.
    var caption: String
    var x: [Double]
    var xScale: AxisScale
    var xTitle: String
    var xText: @Sendable (Double) -> String
    var lines: [Line]
    var yScale: AxisScale
    var yText: @Sendable (Double) -> String
    /// At heights.
    var levels: [Mark] = []
    /// At places of the x axis.
    var moments: [Mark] = []
    /// The end of the warm-up: the part left of it is not measured.
    var warmUpEnd: Double?
    var condensing = Condensing.largest

    /// Reduces the chart to at most that many places on the x axis; each then combines several.
    func condensed(to limit: Int) -> Chart {
        guard x.count > limit, limit > 0 else { return self }
        let size = (x.count + limit - 1) / limit
        let starts = Array(stride(from: 0, to: x.count, by: size))
        var result = self
        result.x = starts.map { x[min($0 + size, x.count) - 1] }
        for index in lines.indices {
            result.lines[index].values = starts.map { start in
                let values = lines[index].values[start..<min(start + size, x.count)].compactMap { $0 }
                guard !values.isEmpty else { return nil }
                return condensing == .largest ? values.max() : values.reduce(0, +) / Double(values.count)
            }
        }
        return result
    }

    /// The tallest value; of stacked lines, the tallest stack.
    static func tallest(_ lines: [Line]) -> Double {
        let stacked = lines.filter { $0.style == .stacked }
        let count = stacked.map(\.values.count).max() ?? 0
        let stacks = (0..<count).map { index in stacked.reduce(0) { $0 + (($1.values.indices.contains(index) ? $1.values[index] : nil) ?? 0) } }
        let others = lines.filter { $0.style != .stacked }.flatMap { $0.values.compactMap { $0 } }
        return (stacks + others).filter(\.isFinite).max() ?? 0
    }

    /// The smallest value above 0.
    static func smallest(_ lines: [Line]) -> Double? { lines.flatMap { $0.values.compactMap { $0 } }.filter { $0 > 0 && $0.isFinite }.min() }
}
