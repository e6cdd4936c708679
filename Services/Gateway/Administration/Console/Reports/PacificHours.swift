internal import Clocks

/// Hours of the time that usage is counted in, `America/Los_Angeles` (rest-v2 §7), as hours of UTC.
///
/// Since 2007 (15 U.S.C. 260a) summer time begins on the second Sunday of March, and ends on the first Sunday of November, at two o'clock each. Usage of the hour
/// that comes twice in November is counted in one: that hour is its first.
enum PacificHours {
    /// UTC is so many hours ahead.
    private static let winter = 8
    private static let summer = 7

    /// - Parameters:
    ///   - day: Days since 1970.
    ///   - hour: 0 to 23.
    /// - Returns: Hours since 1970, of UTC.
    static func universal(day: Int, hour: Int) -> Int {
        let year = CivilDate(daysSince1970: day).year
        guard let march = CivilDate(year: year, month: 3, day: 1), let november = CivilDate(year: year, month: 11, day: 1) else {
            return day * 24 + hour + winter
        }
        let local = day * 24 + hour
        let begin = (firstSunday(from: march.daysSince1970) + 7) * 24 + 2
        let end = firstSunday(from: november.daysSince1970) * 24 + 2
        return local + (local >= begin && local < end ? summer : winter)
    }

    /// 1970 began on a Thursday.
    private static func firstSunday(from day: Int) -> Int { day + (10 - day % 7) % 7 }
}
