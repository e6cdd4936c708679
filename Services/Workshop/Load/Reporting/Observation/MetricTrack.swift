/// Makes the lines of the panels from scrape to scrape, keeping no more than the last scrape.
struct MetricTrack: Sendable {
    private struct Key: Hashable {
        let panel: Int
        let name: String
    }

    /// Lines of one panel, so that a label with many values does not fill the page.
    static let linesPerPanel = 12
    private let plan: [MetricPanel]
    private var order: [[String]]
    private var values: [Key: [Double?]] = [:]
    private var length = 0
    private var last: MetricSnapshot?
    private var first: MetricSnapshot?
    private var hasBegun = false
    private(set) var restarts = 0

    init(_ plan: [MetricPanel] = MetricPanel.all) {
        self.plan = plan
        order = Array(repeating: [], count: plan.count)
    }

    /// - Parameter snapshot: `nil` when the service did not answer.
    mutating func add(_ snapshot: MetricSnapshot?) {
        let change = last.flatMap { before in snapshot.map { MetricChange(before: before, after: $0) } }
        if let change, change.wentBack { restarts += 1 }
        for (number, panel) in plan.enumerated() {
            for line in panel.lines { add(line, to: number, change, snapshot) }
        }
        length += 1
        for key in values.keys where values[key, default: []].count < length { values[key, default: []].append(nil) }
        if let snapshot { last = snapshot }
        if hasBegun, first == nil { first = snapshot }
    }

    /// Counters grow from the last snapshot on; where there is none yet, from the next.
    mutating func begin() { (first, hasBegun) = (last, true) }

    var panels: [Observation.Panel] {
        plan.indices.compactMap { number in
            let series = order[number].compactMap { name in values[Key(panel: number, name: name)].map { Observation.Series(name: name, values: $0) }
            }
            .filter { $0.values.contains { $0 != nil } }
            // A rate that stayed 0 gets a line only beside others that changed.
            guard series.contains(where: { $0.values.contains { ($0 ?? 0) != 0 } }) else { return nil }
            return Observation.Panel(title: plan[number].title, unit: plan[number].unit.rawValue, series: series)
        }
    }

    /// - Parameter limit: The number at most.
    func counters(limit: Int = 40) -> [Observation.Counter] {
        guard let first, let last else { return [] }
        let before = first.counters
        let grown = last.counters.map { Observation.Counter(name: $0.key, growth: $0.value - (before[$0.key] ?? 0)) }.filter { $0.growth > 0 }
        return Array(grown.sorted { ($1.growth, $0.name) < ($0.growth, $1.name) }.prefix(limit))
    }

    private mutating func add(_ line: MetricPanel.Line, to panel: Int, _ change: MetricChange?, _ snapshot: MetricSnapshot?) {
        switch line {
        case .rate(let metric, let name): set(change?.rate(metric), panel, name)
        case .rates(let metric, let label):
            for (value, rate) in (change?.rates(metric, by: label) ?? [:]).sorted(by: { $0.key < $1.key }) { set(rate, panel, value) }
        case .gauge(let metric, let name): set(snapshot?.sum(metric), panel, name)
        case .mean(let metric, let name, let factor): set(change?.mean(metric).map { $0 * factor }, panel, name)
        case .quantile(let metric, let quantile, let name, let factor): set(change?.quantile(metric, quantile).map { $0 * factor }, panel, name)
        }
    }

    private mutating func set(_ value: Double?, _ panel: Int, _ name: String) {
        guard let value else { return }
        let isNew = values[Key(panel: panel, name: name)] == nil
        if isNew {
            guard order[panel].count < Self.linesPerPanel else { return }
            order[panel].append(name)
        }
        var line = values[Key(panel: panel, name: name)] ?? Array(repeating: nil, count: length)
        line.append(value)
        values[Key(panel: panel, name: name)] = line
    }
}

extension MetricChange {
    /// True when a counter is lower than before: the program started anew.
    var wentBack: Bool {
        let old = before.counters
        return after.counters.contains { name, value in (old[name] ?? 0) > value }
    }
}
