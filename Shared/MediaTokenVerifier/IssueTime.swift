public import Clocks

/// `issueTime` of the reference form: `2025-03-04 10:15:30 +0000`.
public enum IssueTime {
    /// - Parameter moment: Written in UTC, in whole seconds.
    public static func format(_ moment: Timestamp) -> String {
        let seconds = moment.seconds
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let (year, month, dayOfMonth) = CivilDate.fromDay(day)
        let time = seconds - day * 86_400
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(dayOfMonth, 2)) \(pad(time / 3600, 2)):\(pad(time / 60 % 60, 2)):\(pad(time % 60, 2)) +0000"
    }

    /// - Returns: `nil` unless the text is a date, a time and an offset of hours and minutes, each possible.
    public static func parse(_ text: String) -> Timestamp? {
        let characters = Array(text.utf8)
        guard characters.count == 25, zip(characters, template).allSatisfy({ $1 == UInt8(ascii: "0") || $0 == $1 || ($1 == UInt8(ascii: "+") && $0 == UInt8(ascii: "-")) })
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            guard characters[range].allSatisfy({ (48...57).contains($0) }) else { return nil }
            return characters[range].reduce(0) { $0 * 10 + Int64($1 - 48) }
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), let zoneHours = number(21..<23), let zoneMinutes = number(23..<25),
            hour < 24, minute < 60, second < 60, zoneHours < 24, zoneMinutes < 60, let date = CivilDate.day(year: year, month: month, day: day)
        else { return nil }
        let offset = (zoneHours * 3600 + zoneMinutes * 60) * (characters[20] == UInt8(ascii: "-") ? -1 : 1)
        return Timestamp(seconds: date * 86_400 + hour * 3600 + minute * 60 + second - offset)
    }

    private static let template = Array("0000-00-00 00:00:00 +0000".utf8)

    private static func pad(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap day is a year's last.
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
