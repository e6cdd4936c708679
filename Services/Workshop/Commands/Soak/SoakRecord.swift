/// The record of a soak until now.
struct SoakRecord: Sendable {
    private var known: [SoakSample.Key: SoakSeries] = [:]
    private var starts: [String: UInt64] = [:]
    /// Processes that ended or were started again, each once for each time.
    private(set) var interruptions: [String] = []
    private var gone: Set<String> = []
    private(set) var seconds = 0.0
    /// Bytes that all logs together may have.
    let logBound: Double

    init(logBound: Double) { self.logBound = logBound }

    /// - Parameter seconds: Since the beginning.
    mutating func add(_ sample: SoakSample, at seconds: Double) {
        self.seconds = seconds
        for (name, start) in sample.starts {
            if let before = starts[name], before != start { interruptions.append("\(name) was started again") }
            starts[name] = start
            gone.remove(name)
        }
        for name in starts.keys.sorted() where sample.starts[name] == nil && gone.insert(name).inserted { interruptions.append("\(name) has ended") }
        var values = sample.values
        let logs = sample.values.filter { $0.key.quantity == .log }
        if !logs.isEmpty { values[SoakSample.Key(quantity: .log, name: Self.allLogs)] = logs.values.reduce(0, +) }
        for (key, value) in values {
            var series = known[key] ?? SoakSeries(quantity: key.quantity, name: key.name)
            if key.quantity == .journal || key.name == Self.allLogs { series.bound = key.quantity.bound(logs: logBound) }
            if key.quantity == .cache { series.bound = sample.limits[key.name] }
            series.points.append(Growth.Point(seconds: seconds, value: value))
            known[key] = series
        }
    }

    /// The sum over the logs, which has the bound.
    static let allLogs = "all"

    /// The series of one quantity, by name.
    func series(_ quantity: SoakQuantity) -> [SoakSeries] {
        known.values.filter { $0.quantity == quantity }.sorted {
            ($0.name == Self.allLogs ? 1 : 0, $0.name) < ($1.name == Self.allLogs ? 1 : 0, $1.name)
        }
    }

    var all: [SoakSeries] { SoakQuantity.allCases.flatMap(series) }
}
