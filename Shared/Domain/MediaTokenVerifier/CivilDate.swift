internal import Octets

/// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap day is a year's last. Its own, beside that of `Clocks`:
/// the verifier shares no reading of a token with those that make tokens.
enum CivilDate {
    private static let daysPerEra: Int64 = 146_097
    private static let daysFromEraTo1970: Int64 = 719_468

    static func fromDay(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + daysFromEraTo1970
        let era = (shifted >= 0 ? shifted : shifted - daysPerEra + 1) / daysPerEra
        let dayOfEra = shifted - era * daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// - Returns: `nil` for a day that does not exist.
    static func day(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let result = era * daysPerEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - daysFromEraTo1970
        let (backYear, backMonth, backDay) = fromDay(result)
        return backYear == year && backMonth == month && backDay == day ? result : nil
    }
}
