internal import Foundation

/// The data with which the page's script shows values at the pointer: places and ready texts, so that it has nothing to compute.
struct ChartHover: Encodable {
    struct Line: Encodable {
        /// Name, palette class, text at each place, height at each place; a value that is absent is empty and has no height.
        let n: String
        let c: String
        let v: [String]
        let y: [Double?]
    }

    /// Places on the drawing, their texts, and where the drawing ends.
    let x: [Double]
    let t: [String]
    let h: [Double]
    let l: [Line]

    init(drawing: ChartDrawing) {
        let chart = drawing.chart
        let shown = chart.x.indices.filter { drawing.horizontal(chart.x[$0]) != nil }
        x = shown.map { Self.rounded(drawing.horizontal(chart.x[$0]) ?? 0) }
        t = shown.map { "\(chart.xText(chart.x[$0])) \(chart.xTitle)" }
        h = [ChartDrawing.top, ChartDrawing.height - ChartDrawing.bottom, ChartDrawing.width]
        l = chart.lines.map { line in
            let values = shown.map { line.values.indices.contains($0) ? line.values[$0] : nil }
            return Line(
                n: line.name, c: ChartDrawing.colour(line.colour), v: values.map { $0.map(chart.yText) ?? "" },
                y: values.map { value in line.style == .stacked ? nil : value.flatMap(drawing.vertical).map(Self.rounded) })
        }
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
