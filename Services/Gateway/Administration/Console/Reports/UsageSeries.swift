internal import Clocks
internal import Contracts

/// Counts step by step over a whole window, with the steps in which nothing happened.
struct UsageSeries: Sendable {
    struct Row: Sendable {
        let step: Int
        let label: String
        var sums = UsageSums()
    }

    let window: UsageWindow
    private(set) var rows: [Row]
    private(set) var total = UsageSums()
    /// The last step that begins at midnight US Pacific, as its hours are not kept or too many; `nil`: all begin at midnight UTC.
    private(set) var pacificUntil: String?

    var isEmpty: Bool { total.isEmpty }

    /// - Parameters:
    ///   - report: By hour; days of a month may also come by day, and those of a year do.
    ///   - edges: The hours of days before a month begins, as far as there are any.
    init(_ report: UsageReport, in window: UsageWindow, edges: [UsageReport] = []) {
        self.window = window
        rows = window.steps.map { Row(step: $0, label: window.label($0)) }
        var days: [Int: UsageSums] = [:]
        for row in report.rows {
            guard let place = Self.place(row.values) else { continue }
            var sums = UsageSums()
            sums.add(row.counts, report.metrics)
            if let hour = place.hour {
                add(sums, at: window.step(ofHour: PacificHours.universal(day: place.day, hour: hour)))
            } else if window.period != .day {
                days[place.day, default: UsageSums()] += sums
                add(sums, at: window.step(ofDay: place.day))
            }
        }
        if window.period == .month, !days.isEmpty { pacificUntil = rows.last?.label }
        if window.period == .year { settle(days, edges) }
    }

    /// A day of the zone that is counted in ends in the next day of UTC. Where the hours of a month's last day are known, and are all of it, those of the next month
    /// in UTC go there.
    private mutating func settle(_ days: [Int: UsageSums], _ edges: [UsageReport]) {
        var known: [Int: (all: UsageSums, next: UsageSums)] = [:]
        for edge in edges {
            for row in edge.rows {
                guard let place = Self.place(row.values), let hour = place.hour else { continue }
                let day = place.day
                var sums = UsageSums()
                sums.add(row.counts, edge.metrics)
                known[day, default: (UsageSums(), UsageSums())].all += sums
                if PacificHours.universal(day: day, hour: hour) / 24 > day { known[day]?.next += sums }
            }
        }
        for row in rows.dropFirst() {
            guard let begin = CivilDate(year: row.step / 12, month: row.step % 12 + 1, day: 1)?.daysSince1970 else { continue }
            let last = begin - 1
            let (all, next) = known[last] ?? (UsageSums(), UsageSums())
            guard all == days[last] ?? UsageSums() else {
                pacificUntil = row.label
                continue
            }
            rows[row.step - window.steps.lowerBound - 1].sums -= next
            rows[row.step - window.steps.lowerBound].sums += next
        }
    }

    private mutating func add(_ sums: UsageSums, at step: Int) {
        guard window.steps.contains(step) else { return }
        rows[step - window.steps.lowerBound].sums += sums
        total += sums
    }

    /// Days since 1970 and the hour, of the zone that is counted in, where a row names them.
    private static func place(_ values: [String]) -> (day: Int, hour: Int?)? {
        let numbers = values.compactMap { Int($0) }
        guard numbers.count == values.count, numbers.count == 3 || numbers.count == 4, (1...9999).contains(numbers[0]),
            let date = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2])
        else { return nil }
        guard numbers.count == 4 else { return (date.daysSince1970, nil) }
        return (0...23).contains(numbers[3]) ? (date.daysSince1970, numbers[3]) : nil
    }
}
