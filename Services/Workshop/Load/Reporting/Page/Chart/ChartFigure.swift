/// A chart as the page's template takes it: the drawing, its legend, and the same numbers as a table.
struct ChartFigure {
    struct Key {
        let name: String
        let colour: String
        /// Least, mean and most of the line, for the legend.
        let summary: String
    }

    struct Row {
        let place: String
        let cells: [String]
    }

    /// Places of a drawing, and rows of a table: more would be no finer on a screen.
    private static let placeLimit = 360
    private static let rowLimit = 60

    let id: String
    let title: String
    let caption: String
    let drawing: String
    let keys: [Key]
    let placeTitle: String
    let rows: [Row]
    let note: String

    init(_ chart: Chart, id: String) {
        let drawn = chart.condensed(to: Self.placeLimit)
        let listed = chart.condensed(to: Self.rowLimit)
        self.id = id
        title = chart.title
        caption = chart.caption
        drawing = ChartDrawing(chart: drawn, id: id).svg()
        placeTitle = chart.xTitle
        keys = chart.lines.map { line in
            let values = line.values.compactMap { $0 }
            let summary = values.isEmpty ? "no value" : values.count == 1 ? chart.yText(values[0]) : Self.range(values, chart.yText)
            return Key(name: line.name, colour: ChartDrawing.colour(line.colour), summary: summary)
        }
        rows = listed.x.indices.map { index in
            Row(
                place: chart.xText(listed.x[index]),
                cells: listed.lines.map { line in
                    (line.values.indices.contains(index) ? line.values[index] : nil).map(chart.yText) ?? "–"
                })
        }
        let size = (chart.x.count + Self.rowLimit - 1) / Self.rowLimit
        let kind = chart.condensing == .largest ? "the largest" : "the mean"
        note = size > 1 ? "Each row stands for \(size) values: \(kind) of them." : ""
    }

    private static func range(_ values: [Double], _ text: (Double) -> String) -> String {
        guard let least = values.min(), let most = values.max() else { return "" }
        return least == most ? text(least) : "\(text(least)) to \(text(most))"
    }
}
