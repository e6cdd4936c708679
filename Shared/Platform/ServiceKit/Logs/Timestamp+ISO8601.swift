internal import Clocks

extension Timestamp {
    /// `2031-03-04T10:00:00.000Z`.
    var iso8601: String {
        let day = Self.floorDivide(milliseconds, 86_400_000)
        let inDay = milliseconds - day * 86_400_000
        let date = CivilDate(daysSince1970: Int(day))
        guard (0...9999).contains(date.year) else { return "\(date.year)" }
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
            add(Int64(date.year), 4, "-")
            add(Int64(date.month), 2, "-")
            add(Int64(date.day), 2, "T")
            add(inDay / 3_600_000, 2, ":")
            add(inDay / 60_000 % 60, 2, ":")
            add(inDay / 1000 % 60, 2, ".")
            add(inDay % 1000, 3, "Z")
            return place
        }
    }

    private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
        let quotient = value / by
        return value % by < 0 ? quotient - 1 : quotient
    }
}
