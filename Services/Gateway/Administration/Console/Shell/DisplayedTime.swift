internal import Clocks
internal import Contracts

/// A moment as the pages write it, in UTC: they know no time zone without a script.
struct DisplayedTime {
    /// `2026-11-26 20:15 UTC`; a dash for none.
    let text: String

    /// - Parameter milliseconds: Since 1970; 0: none.
    init(milliseconds: UInt64) {
        guard milliseconds > 0 else {
            text = "–"
            return
        }
        let seconds = Int(milliseconds / 1000)
        let date = CivilDate(daysSince1970: seconds / 86_400)
        let minutes = seconds % 86_400 / 60
        text =
            "\(date.year)-\(Self.two(date.month))-\(Self.two(date.day)) \(Self.two(minutes / 60)):\(Self.two(minutes % 60)) UTC"
    }

    /// Returns how long ago, roughly: `3 minutes`.
    static func span(milliseconds: UInt64) -> String {
        let minutes = milliseconds / 60_000
        return switch minutes {
        case 0: "less than a minute"
        case 1: "1 minute"
        case ..<120: "\(minutes) minutes"
        case ..<2880: "\(minutes / 60) hours"
        default: "\(minutes / 1440) days"
        }
    }

    /// Returns a moment for programs: `2026-11-26T20:15:07Z` (RFC 3339).
    /// - Parameter milliseconds: Since 1970.
    static func iso(milliseconds: UInt64) -> String {
        let seconds = Int(milliseconds / 1000)
        let date = CivilDate(daysSince1970: seconds / 86_400)
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
        return "\(date.year)-\(two(date.month))-\(two(date.day))T\(two(hour)):\(two(minute)):\(two(second))Z"
    }

    static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// A lifetime in words: `30 days`, `6 hours 10 minutes`.
struct LifetimeText {
    let text: String

    init(seconds: Int) {
        let parts = [(seconds / 86_400, "day"), (seconds / 3600 % 24, "hour"), (seconds / 60 % 60, "minute"), (seconds % 60, "second")]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        text = words.isEmpty ? "0 seconds" : words.joined(separator: " ")
    }
}
