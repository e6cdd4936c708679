internal import Clocks
internal import Contracts

/// Counts step by step, with the steps in which nothing happened.
struct UsageSeries {
    static let metrics = [
        "authn-attempts", "authn-successful", "authn-failed", "authz-attempts", "authz-successful", "authz-failed", "authz-latency", "media-tokens",
    ]
    /// Titles of the table's cells.
    static let columns = [
        "Sign-ins begun", "Signed in", "Failed", "Sign-in rate", "Decisions asked", "Permitted", "Denied", "Permit rate", "Latency (ms)", "Plays",
    ]

    struct Counts {
        private(set) var begun: UInt64 = 0
        private(set) var signedIn: UInt64 = 0
        private(set) var failed: UInt64 = 0
        private(set) var asked: UInt64 = 0
        private(set) var permitted: UInt64 = 0
        private(set) var denied: UInt64 = 0
        /// All together.
        private(set) var milliseconds: UInt64 = 0
        private(set) var plays: UInt64 = 0

        /// - Parameter metrics: Names, in the order of the counts.
        mutating func add(_ counts: [UInt64], _ metrics: [String]) {
            for (metric, count) in zip(metrics, counts) {
                switch metric {
                case "authn-attempts": begun &+= count
                case "authn-successful": signedIn &+= count
                case "authn-failed": failed &+= count
                case "authz-attempts": asked &+= count
                case "authz-successful": permitted &+= count
                case "authz-failed": denied &+= count
                case "authz-latency": milliseconds &+= count
                case "media-tokens": plays &+= count
                default: break
                }
            }
        }

        /// Of a decision, on average; 0 without any.
        var latency: UInt64 { asked == 0 ? 0 : milliseconds / asked }
        /// Percent; `nil` where nothing was begun.
        var signInRate: UInt64? { Self.rate(signedIn, of: begun) }
        var permitRate: UInt64? { Self.rate(permitted, of: asked) }

        /// Counts are another service's, and may be any number.
        private static func rate(_ part: UInt64, of whole: UInt64) -> UInt64? {
            if whole == 0 { return nil }
            if part >= whole { return 100 }
            let (high, low) = part.multipliedFullWidth(by: 100)
            return whole.dividingFullWidth((high, low)).quotient
        }
    }

    struct Row {
        let label: String
        var counts: Counts
    }

    /// Steps of a page; a report of a stranger's service has no more either.
    private static let most = 400

    private(set) var rows: [Row] = []
    private(set) var total = Counts()

    var isEmpty: Bool { rows.isEmpty }

    init(_ report: UsageReport, _ period: UsageView.Period) {
        let steps = report.rows.compactMap { row in Self.step(row.values, period).map { ($0, row.counts) } }
        guard let first = steps.map(\.0).min(), let last = steps.map(\.0).max(), last - first < Self.most else { return }
        rows = (first...last).map { Row(label: Self.label($0, period), counts: Counts()) }
        for (step, counts) in steps {
            rows[step - first].counts.add(counts, report.metrics)
            total.add(counts, report.metrics)
        }
    }

    static func cells(_ counts: Counts) -> [String] {
        [
            "\(counts.begun)", "\(counts.signedIn)", "\(counts.failed)", counts.signInRate.map { "\($0) %" } ?? "–", "\(counts.asked)",
            "\(counts.permitted)", "\(counts.denied)", counts.permitRate.map { "\($0) %" } ?? "–", counts.asked == 0 ? "–" : "\(counts.latency)",
            "\(counts.plays)",
        ]
    }

    /// Hours, days or months since some beginning.
    private static func step(_ values: [String], _ period: UsageView.Period) -> Int? {
        let numbers = values.compactMap { Int($0) }
        guard let year = numbers.first, (1...9999).contains(year) else { return nil }
        switch period {
        case .year: return numbers.count == 2 && (1...12).contains(numbers[1]) ? year * 12 + numbers[1] - 1 : nil
        case .month: return numbers.count == 3 ? CivilDate(year: year, month: numbers[1], day: numbers[2])?.daysSince1970 : nil
        case .day:
            guard numbers.count == 4, (0...23).contains(numbers[3]), let date = CivilDate(year: year, month: numbers[1], day: numbers[2])
            else { return nil }
            return date.daysSince1970 * 24 + numbers[3]
        }
    }

    private static func label(_ step: Int, _ period: UsageView.Period) -> String {
        switch period {
        case .year: return "\(step / 12)-\(Moment.two(step % 12 + 1))"
        case .month: return day(step)
        case .day: return "\(day(step / 24)) \(Moment.two(step % 24)):00"
        }
    }

    private static func day(_ days: Int) -> String {
        let date = CivilDate(daysSince1970: days)
        return "\(date.year)-\(Moment.two(date.month))-\(Moment.two(date.day))"
    }
}
