/// A chart of columns, drawn on the server: places in a box of 640 by 200, with room for the scale at its left.
struct UsageChart {
    private static let width = 640.0
    private static let height = 200.0
    private static let left = 48.0
    private static let bottom = 24.0
    private static let top = 8.0
    /// The greatest width of one column; a few steps leave room between them.
    private static let broadest = 28.0

    let title: String
    /// The parts of one step's columns, side by side.
    let parts: [(name: String, value: (UsageSeries.Counts) -> UInt64)]
    let unit: String

    static var all: [UsageChart] {
        [
            UsageChart(title: "Sign-ins", parts: [("signed in", { $0.signedIn }), ("failed", { $0.failed })], unit: ""),
            UsageChart(title: "Decisions of MVPDs", parts: [("permitted", { $0.permitted }), ("denied", { $0.denied })], unit: ""),
            UsageChart(title: "Conversion", parts: [("sign-ins", { $0.signInRate ?? 0 }), ("decisions", { $0.permitRate ?? 0 })], unit: " %"),
            UsageChart(title: "Latency of decisions", parts: [("average", { $0.latency })], unit: " ms"),
            UsageChart(title: "Plays", parts: [("plays", { $0.plays })], unit: ""),
        ]
    }

    func content(_ series: UsageSeries) -> [String: Any] {
        let highest = Self.scale(series.rows.flatMap { row in parts.map { $0.value(row.counts) } }.max() ?? 0)
        let step = (Self.width - Self.left) / Double(max(1, series.rows.count))
        let column = min(Self.broadest, (step - min(4, step * 0.2)) / Double(parts.count))
        let gap = step - column * Double(parts.count)
        var bars: [[String: String]] = []
        for (index, row) in series.rows.enumerated() {
            for (part, (name, value)) in parts.enumerated() {
                let count = value(row.counts)
                guard count > 0 else { continue }
                let length = (Self.height - Self.bottom - Self.top) * Double(count) / Double(highest)
                bars.append([
                    "x": Self.text(Self.left + Double(index) * step + gap / 2 + Double(part) * column),
                    "y": Self.text(Self.height - Self.bottom - length), "width": Self.text(max(0.5, column)), "height": Self.text(length),
                    "part": "\(part)", "told": "\(row.label), \(name): \(count)\(unit)",
                ])
            }
        }
        let sums = parts.map { name, value in "\(name) \(value(series.total))\(unit)" }.joined(separator: ", ")
        return [
            "chartTitle": title, "chartSummary": "\(title) from \(series.rows.first?.label ?? "") to \(series.rows.last?.label ?? ""): \(sums)",
            "bars": bars, "legend": parts.enumerated().map { ["legendPart": "\($0)", "legendName": $1.name] },
            "lines": [0, highest / 2, highest].map { value in
                let y = Self.height - Self.bottom - (Self.height - Self.bottom - Self.top) * Double(value) / Double(highest)
                return ["lineY": Self.text(y), "lineTextY": Self.text(y + 4), "lineLabel": "\(value)"]
            }, "firstLabel": series.rows.first?.label ?? "", "lastLabel": series.rows.count > 1 ? series.rows.last?.label ?? "" : "",
        ]
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

    /// With one digit.
    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
