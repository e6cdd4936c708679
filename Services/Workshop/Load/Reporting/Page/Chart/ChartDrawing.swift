/// Draws a chart as SVG without styles of its own: colours come from the page's classes, so that they follow light, dark and print.
struct ChartDrawing: Sendable {
    static let width = 720.0
    static let height = 264.0
    static let (left, right, top, bottom) = (72.0, 16.0, 12.0, 42.0)
    /// Colours in the page's palette.
    static let palette = 8

    let chart: Chart
    /// Unique on the page.
    let id: String

    private var plotWidth: Double { Self.width - Self.left - Self.right }
    private var plotHeight: Double { Self.height - Self.top - Self.bottom }
    private var floor: Double { Self.top + plotHeight }

    func svg() -> String {
        var markup = Markup()
        markup.group(
            "svg",
            [
                ("class", "chart"), ("viewBox", "0 0 \(Markup.number(Self.width)) \(Markup.number(Self.height))"), ("role", "img"),
                ("aria-labelledby", "\(id)-t \(id)-d"), ("tabindex", "0"), ("data-chart", ChartHover(drawing: self).json),
            ]
        ) { svg in
            svg.element("title", [("id", "\(id)-t")], chart.title)
            svg.element("desc", [("id", "\(id)-d")], chart.caption)
            drawWarmUp(&svg)
            drawAxes(&svg)
            drawLines(&svg)
            drawMarks(&svg)
        }
        return markup.text
    }

    /// Returns where a value of the x axis is drawn.
    func horizontal(_ value: Double) -> Double? { chart.xScale.place(value).map { Self.left + $0 * plotWidth } }

    func vertical(_ value: Double) -> Double? { chart.yScale.place(value).map { Self.top + (1 - $0) * plotHeight } }

    private func drawWarmUp(_ svg: inout Markup) {
        guard let end = chart.warmUpEnd.flatMap(horizontal), end > Self.left + 1 else { return }
        svg.element(
            "rect",
            [
                ("class", "warm"), ("x", n(Self.left)), ("y", n(Self.top)), ("width", n(end - Self.left)), ("height", n(plotHeight)),
            ])
        if end - Self.left > 60 { svg.element("text", [("class", "tick"), ("x", n(Self.left + 4)), ("y", n(Self.top + 13))], "warm-up") }
    }

    private func drawAxes(_ svg: inout Markup) {
        for tick in chart.yScale.ticks {
            guard let y = vertical(tick) else { continue }
            svg.element("line", [("class", "grid"), ("x1", n(Self.left)), ("x2", n(Self.left + plotWidth)), ("y1", n(y)), ("y2", n(y))])
            svg.element("text", [("class", "tick"), ("x", n(Self.left - 7)), ("y", n(y + 4.5)), ("text-anchor", "end")], chart.yText(tick).tickText)
        }
        for tick in chart.xScale.ticks {
            guard let x = horizontal(tick) else { continue }
            svg.element("line", [("class", "axis"), ("x1", n(x)), ("x2", n(x)), ("y1", n(floor)), ("y2", n(floor + 4))])
            svg.element("text", [("class", "tick"), ("x", n(x)), ("y", n(floor + 18)), ("text-anchor", "middle")], chart.xText(tick).tickText)
        }
        svg.element("line", [("class", "axis"), ("x1", n(Self.left)), ("x2", n(Self.left + plotWidth)), ("y1", n(floor)), ("y2", n(floor))])
        svg.element(
            "text", [("class", "tick"), ("x", n(Self.left + plotWidth)), ("y", n(Self.height - 6)), ("text-anchor", "end")], chart.xTitle)
    }

    private func drawLines(_ svg: inout Markup) {
        var heights = [Double](repeating: 0, count: chart.x.count)
        for line in chart.lines {
            let colour = Self.colour(line.colour)
            switch line.style {
            case .stacked: drawBars(line, colour, &heights, &svg)
            case .points: for point in runs(of: line).joined() { drawDot(point, colour, 3, &svg) }
            case .line, .dashed, .area:
                for run in runs(of: line) { draw(run, colour, line.style, &svg) }
            }
        }
    }

    private func draw(_ run: [Point], _ colour: String, _ style: Chart.Line.Style, _ svg: inout Markup) {
        guard let first = run.first, let last = run.last else { return }
        guard run.count > 1 else { return drawDot(first, colour, 2, &svg) }
        let path = "M" + run.map { "\(n($0.x)) \(n($0.y))" }.joined(separator: "L")
        if style == .area {
            svg.element("path", [("class", "area \(colour)"), ("d", "\(path)L\(n(last.x)) \(n(floor))L\(n(first.x)) \(n(floor))Z")])
        }
        svg.element("path", [("class", "line \(style == .dashed ? "dashed " : "")\(colour)"), ("d", path)])
    }

    private func drawDot(_ point: Point, _ colour: String, _ radius: Double, _ svg: inout Markup) {
        svg.element("circle", [("class", "dot \(colour)"), ("cx", n(point.x)), ("cy", n(point.y)), ("r", n(radius))])
    }

    private func drawBars(_ line: Chart.Line, _ colour: String, _ heights: inout [Double], _ svg: inout Markup) {
        let width = max(1, min(28, plotWidth / Double(max(1, chart.x.count)) * 0.8))
        for (index, value) in line.values.enumerated() where index < heights.count {
            guard let value, value > 0, let x = horizontal(chart.x[index]), let from = vertical(heights[index]) else { continue }
            heights[index] += value
            guard let to = vertical(heights[index]), from - to > 0.05 else { continue }
            let start = max(Self.left, min(Self.left + plotWidth - width, x - width / 2))
            svg.element("rect", [("class", "bar \(colour)"), ("x", n(start)), ("y", n(to)), ("width", n(width)), ("height", n(max(0.5, from - to)))])
        }
    }

    private func drawMarks(_ svg: inout Markup) {
        for mark in chart.levels {
            guard let y = vertical(mark.value) else { continue }
            svg.element("line", [("class", "mark"), ("x1", n(Self.left)), ("x2", n(Self.left + plotWidth)), ("y1", n(y)), ("y2", n(y))])
            let isAtTop = y < Self.top + 14
            svg.element(
                "text", [("class", "mark"), ("x", n(Self.left + plotWidth - 4)), ("y", n(isAtTop ? y + 12 : y - 4)), ("text-anchor", "end")],
                mark.label)
        }
        for mark in chart.moments {
            guard let x = horizontal(mark.value) else { continue }
            svg.element("line", [("class", "mark"), ("x1", n(x)), ("x2", n(x)), ("y1", n(Self.top)), ("y2", n(floor))])
            let isRight = x > Self.left + plotWidth * 0.7
            svg.element(
                "text",
                [("class", "mark"), ("x", n(isRight ? x - 5 : x + 5)), ("y", n(Self.top + 13)), ("text-anchor", isRight ? "end" : "start")],
                mark.label)
        }
    }

    struct Point: Sendable {
        var x: Double
        var y: Double
    }

    /// Stretches without a gap.
    private func runs(of line: Chart.Line) -> [[Point]] {
        var runs: [[Point]] = [[]]
        for (index, x) in chart.x.enumerated() {
            let value = line.values.indices.contains(index) ? line.values[index] : nil
            if let value, let px = horizontal(x), let py = vertical(value) {
                runs[runs.count - 1].append(Point(x: px, y: py))
            } else if runs.last?.isEmpty == false {
                runs.append([])
            }
        }
        return runs.filter { !$0.isEmpty }
    }

    static func colour(_ number: Int) -> String { "c\(number % palette)" }

    private func n(_ value: Double) -> String { Markup.number(value) }
}

extension String {
    /// `30.0 ms` as `30 ms`: a tick is a round number.
    fileprivate var tickText: String { replacing(/\.0+(?=\D|$)/, with: "").replacing(/(\.\d*?[1-9])0+(?=\D|$)/) { String($0.1) } }
}
