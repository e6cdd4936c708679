internal import Clocks

extension Timestamp {
    /// `2031-03-04T10:00:00.000Z`.
    var iso8601: String {
        let day = Self.floorDivide(milliseconds, 86_400_000)
        let inDay = milliseconds - day * 86_400_000
        let (year, month, date) = Self.civil(day)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        let parts: [(number: Int64, width: Int, after: Unicode.Scalar)] = [
            (year, 4, "-"), (month, 2, "-"), (date, 2, "T"), (inDay / 3_600_000, 2, ":"), (inDay / 60_000 % 60, 2, ":"),
            (inDay / 1000 % 60, 2, "."), (inDay % 1000, 3, "Z"),
        ]
        for part in parts {
            Self.append(part.number, width: part.width, to: &text)
            text.append(UInt8(ascii: part.after))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Day number since 1970 to the proleptic Gregorian date, by counting in eras of 400 years from 1 March.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = floorDivide(shifted, 146_097)
        let inEra = shifted - era * 146_097
        let yearOfEra = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * inYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, inYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
        let quotient = value / by
        return value % by < 0 ? quotient - 1 : quotient
    }

    /// With leading zeros.
    private static func append(_ number: Int64, width: Int, to text: inout [UInt8]) {
        var unit: Int64 = 1
        for _ in 1..<width { unit *= 10 }
        guard (0..<unit * 10).contains(number) else { return text.append(contentsOf: String(number).utf8) }
        while unit > 0 {
            text.append(0x30 + UInt8(number / unit % 10))
            unit /= 10
        }
    }
}
