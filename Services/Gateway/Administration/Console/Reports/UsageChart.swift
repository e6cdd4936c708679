/// A chart of columns, drawn on the server: places in a box of 440 by 180, with room for the scale at its left. The axis has every step of the window.
struct UsageChart {
    private static let width = 440.0
    private static let height = 180.0
    private static let left = 50.0
    private static let bottom = 26.0
    private static let top = 12.0
    /// The greatest width of one column; a few steps leave room between them.
    private static let broadest = 22.0

    let title: String
    /// The parts of one step's columns, side by side.
    let parts: [(name: String, value: (UsageSums) -> UInt64?)]
    let unit: String
    /// Stands behind the numbers of the scale too, where it is short; the title names it in any case.
    var scaleUnit = ""
    /// The scale's end; `nil`: as the values have it.
    var highest: UInt64?

    /// - Parameter step: `hour`, `day` or `month`.
    static func all(per step: String) -> [UsageChart] {
        [
            UsageChart(title: "Sign-ins per \(step)", parts: [("signed in", { $0.signedIn }), ("failed", { $0.failed })], unit: ""),
            UsageChart(title: "Decisions of MVPDs per \(step)", parts: [("permitted", { $0.permitted }), ("denied", { $0.denied })], unit: ""),
            UsageChart(
                title: "Conversion, percent of what was begun", parts: [("sign-ins", { $0.signInRate }), ("decisions", { $0.permitRate })],
                unit: " %", scaleUnit: " %", highest: 100),
            UsageChart(title: "Average time of a decision, in ms", parts: [("average", { $0.latency })], unit: " ms"),
            UsageChart(title: "Plays per \(step)", parts: [("plays", { $0.plays })], unit: ""),
        ]
    }

    func content(_ series: UsageSeries) -> [String: Any] {
        let highest = highest ?? Self.scale(series.rows.flatMap { row in parts.compactMap { $0.value(row.sums) } }.max() ?? 0)
        let step = (Self.width - Self.left) / Double(max(1, series.rows.count))
        let column = min(Self.broadest, (step - min(4, step * 0.2)) / Double(parts.count))
        let gap = step - column * Double(parts.count)
        var bars: [[String: String]] = []
        for (index, row) in series.rows.enumerated() {
            for (part, (name, value)) in parts.enumerated() {
                guard let count = value(row.sums), count > 0 else { continue }
                let length = (Self.height - Self.bottom - Self.top) * min(1, Double(count) / Double(highest))
                bars.append([
                    "x": Self.text(Self.left + Double(index) * step + gap / 2 + Double(part) * column),
                    "y": Self.text(Self.height - Self.bottom - length), "width": Self.text(max(0.5, column)), "height": Self.text(length),
                    "part": "\(part)", "told": "\(row.label), \(name): \(count)\(unit)",
                ])
            }
        }
        let sums = parts.map { name, value in "\(name) \(value(series.total).map { "\($0)\(unit)" } ?? "none")" }.joined(separator: ", ")
        return [
            "chartTitle": title, "chartSummary": "\(title) from \(series.rows.first?.label ?? "") to \(series.rows.last?.label ?? ""): \(sums)",
            "bars": bars, "legend": parts.enumerated().map { ["legendPart": "\($0)", "legendName": $1.name] }, "hasLegend": parts.count > 1,
            "lines": [0, highest / 2, highest].map { value in
                let y = Self.height - Self.bottom - (Self.height - Self.bottom - Self.top) * Double(value) / Double(highest)
                return ["lineY": Self.text(y), "lineTextY": Self.text(y + 4), "lineLabel": Self.short(value) + scaleUnit]
            }, "ticks": ticks(series, step),
        ]
    }

    /// Names the first, the last and some steps between them.
    private func ticks(_ series: UsageSeries, _ step: Double) -> [[String: Any]] {
        let last = series.rows.count - 1
        guard last > 0 else { return [] }
        return Set([0, last / 4, last / 2, last * 3 / 4, last]).sorted().map { index in
            let isEnd = index == 0 || index == last
            let x = index == 0 ? Self.left : index == last ? Self.width : Self.left + (Double(index) + 0.5) * step
            return [
                "tickX": Self.text(x), "tickLabel": series.window.shortLabel(series.rows[index].step),
                "tickAnchor": index == 0 ? "start" : index == last ? "end" : "middle", "isMinor": !isEnd && index != last / 2,
            ]
        }
    }

    /// The next even number that people like to read: 2, 4, 10, 20, 40, 100 and so on.
    private static func scale(_ highest: UInt64) -> UInt64 {
        var unit: UInt64 = 1
        while unit < 1_000_000_000_000_000 {
            for factor in [2, 4, 10] as [UInt64] where unit * factor >= highest { return unit * factor }
            unit *= 10
        }
        return max(2, highest)
    }

    /// Numbers of a scale, which are whole thousands and millions where they are large.
    private static func short(_ number: UInt64) -> String {
        for (size, letter) in [(1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")] as [(UInt64, String)]
        where number >= 10 * size && number % size == 0 { return "\(number / size)\(letter)" }
        return "\(number)"
    }

    /// With one digit.
    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
