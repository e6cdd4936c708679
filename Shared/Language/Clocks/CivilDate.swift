/// A day of the proleptic Gregorian calendar. It is computed by years that begin in March, so that a leap day is its year's last, in eras of 400 years.
public struct CivilDate: Hashable, Sendable {
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to 31.
    public let day: Int

    private static let daysPerEra = 146_097
    /// From 1 March of the year 0 to 1 January 1970.
    private static let daysTo1970 = 719_468

    /// - Parameter days: Since 1 January 1970; negative before.
    public init(daysSince1970 days: Int) {
        let shifted = days + Self.daysTo1970
        let era = Self.flooredQuotient(shifted, Self.daysPerEra)
        let dayOfEra = shifted - era * Self.daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = (monthFromMarch + 2) % 12 + 1
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    }

    /// - Returns: `nil` for a day that does not exist.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Negative before 1 January 1970.
    public var daysSince1970: Int {
        let marchYear = month > 2 ? year : year - 1
        let era = Self.flooredQuotient(marchYear, 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * Self.daysPerEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - Self.daysTo1970
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        let isLeapYear = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return switch month {
        case 2: isLeapYear ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func flooredQuotient(_ value: Int, _ divisor: Int) -> Int {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
