internal import Clocks

extension Timestamp {
    /// `2031-03-04T10:00:00.000Z`.
    var iso8601: String {
        let day = Self.floorDivide(milliseconds, 86_400_000)
        let inDay = milliseconds - day * 86_400_000
        let (year, month, date) = Self.civil(day)
        guard (0...9999).contains(year) else { return "\(year)" }
        return String(unsafeUninitializedCapacity: 24) { text in
            var place = 0
            func add(_ number: Int64, _ width: Int, _ after: Unicode.Scalar) {
                var rest = number
                for digit in (place..<place + width).reversed() {
                    text[digit] = 0x30 + UInt8(rest % 10)
                    rest /= 10
                }
                text[place + width] = UInt8(ascii: after)
                place += width + 1
            }
            add(year, 4, "-")
            add(month, 2, "-")
            add(date, 2, "T")
            add(inDay / 3_600_000, 2, ":")
            add(inDay / 60_000 % 60, 2, ":")
            add(inDay / 1000 % 60, 2, ".")
            add(inDay % 1000, 3, "Z")
            return place
        }
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
}
