internal import Octets
public import Clocks

/// `issueTime` of the reference form: `2025-03-04 10:15:30 +0000`.
public enum IssueTime {
    /// - Parameters:
    ///   - moment: Written in whole seconds.
    ///   - zone: Minutes east of UTC in which the moment is written; it stays the same moment. 0 to 1439.
    public static func format(_ moment: Timestamp, zone: Int64 = 0) -> String {
        let seconds = moment.seconds + zone * 60
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let (year, month, dayOfMonth) = CivilDate.fromDay(day)
        let time = seconds - day * 86_400
        var text: [UInt8] = []
        text.reserveCapacity(template.count)
        let parts: [(number: Int64, width: Int, separator: String)] = [
            (year, 4, "-"), (month, 2, "-"), (dayOfMonth, 2, " "), (time / 3600, 2, ":"), (time / 60 % 60, 2, ":"), (time % 60, 2, " +"),
            (zone / 60, 2, ""), (zone % 60, 2, ""),
        ]
        for part in parts {
            pad(part.number, part.width, to: &text)
            text.append(contentsOf: part.separator.utf8)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` unless the text is a date, a time and an offset of hours and minutes, each possible.
    public static func parse(_ text: String) -> Timestamp? {
        let characters = Array(text.utf8)
        guard characters.count == template.count, zip(characters, template).allSatisfy(fits) else { return nil }
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

    /// The digits are checked later; a minus may take the place of the plus.
    private static func fits(_ character: UInt8, _ model: UInt8) -> Bool {
        model == UInt8(ascii: "0") || character == model || (model == UInt8(ascii: "+") && character == UInt8(ascii: "-"))
    }

    private static let template = Array("0000-00-00 00:00:00 +0000".utf8)

    /// With leading zeros.
    private static func pad(_ number: Int64, _ width: Int, to text: inout [UInt8]) {
        let digits = String(number).utf8
        for _ in 0..<max(0, width - digits.count) { text.append(UInt8(ascii: "0")) }
        text.append(contentsOf: digits)
    }
}
