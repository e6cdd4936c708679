internal import Clocks

/// The time that a page of usage shows, step by step, in UTC; hours are also told in another zone.
struct UsageWindow: Sendable {
    let period: UsageView.Period
    /// Whole hours that the zone of hours is ahead of UTC.
    let zone: Int
    /// Hours, days or months, of UTC, since some beginning: all of the axis, whether something was counted or not.
    let steps: ClosedRange<Int>

    /// - Parameter zone: -12 to 14; it counts for hours alone.
    init(_ period: UsageView.Period, now: Timestamp, zone: Int = 0) {
        self.period = period
        self.zone = period == .day ? zone : 0
        let hour = Int(clamping: now.seconds) / 3600
        switch period {
        case .day: steps = hour - 23...hour
        case .month: steps = hour / 24 - 29...hour / 24
        case .year:
            let date = CivilDate(daysSince1970: hour / 24)
            let month = date.year * 12 + date.month - 1
            steps = month - 11...month
        }
    }

    /// The zone, as people write it: `UTC`, `UTC+1`.
    var zoneName: String { Self.name(zone) }

    static func name(_ zone: Int) -> String { zone == 0 ? "UTC" : zone > 0 ? "UTC+\(zone)" : "UTC−\(-zone)" }

    /// The beginning of the window as a query has it; months begin at midnight of the zone that days are counted in.
    var start: String {
        switch period {
        case .day: Self.day(steps.lowerBound / 24) + "T\(DisplayedTime.two(steps.lowerBound % 24)):00:00Z"
        case .month: Self.day(steps.lowerBound) + "T00:00:00Z"
        case .year: Self.month(steps.lowerBound) + "-01"
        }
    }

    /// The same for sums of whole days, which begin at midnight of the zone that they are counted in.
    var coarseStart: String { period == .month ? Self.day(steps.lowerBound) : start }

    /// The months of a year but the first, by the days that precede them, as far as hours of these may be kept.
    func edges(now: Timestamp) -> [Int] {
        guard period == .year else { return [] }
        let oldest = Int(clamping: now.seconds) / 86_400 - Self.hoursAreKept
        return steps.dropFirst().compactMap { step in CivilDate(year: step / 12, month: step % 12 + 1, day: 1).map { $0.daysSince1970 - 1 } }
            .filter { $0 >= oldest }
    }

    /// Days for which config keeps hours where its settings do not say (Usage.md).
    private static let hoursAreKept = 90

    /// - Returns: The step of an hour of UTC.
    func step(ofHour hour: Int) -> Int {
        switch period {
        case .day: hour
        case .month: hour / 24
        case .year: step(ofDay: hour / 24)
        }
    }

    /// - Returns: The step of a day; for steps of days and months.
    func step(ofDay day: Int) -> Int {
        guard period == .year else { return day }
        let date = CivilDate(daysSince1970: day)
        return date.year * 12 + date.month - 1
    }

    /// As the table has it: `2026-11-26 20:00`, `2026-11-26`, `2026-11`.
    func label(_ step: Int) -> String {
        switch period {
        case .day:
            let hour = step + zone
            return "\(Self.day(hour / 24)) \(DisplayedTime.two(hour % 24)):00"
        case .month: return Self.day(step)
        case .year: return Self.month(step)
        }
    }

    /// Below an axis: `20:00`, `11-26`, `2026-11`.
    func shortLabel(_ step: Int) -> String {
        switch period {
        case .day: "\(DisplayedTime.two((step + zone) % 24)):00"
        case .month: String(Self.day(step).dropFirst(5))
        case .year: Self.month(step)
        }
    }

    static func day(_ days: Int) -> String {
        let date = CivilDate(daysSince1970: days)
        return "\(date.year)-\(DisplayedTime.two(date.month))-\(DisplayedTime.two(date.day))"
    }

    private static func month(_ step: Int) -> String { "\(step / 12)-\(DisplayedTime.two(step % 12 + 1))" }
}
