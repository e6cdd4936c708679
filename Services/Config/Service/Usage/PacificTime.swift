internal import Clocks
internal import Foundation

/// The time of reports (rest-v2 §7), as a number of its digits: `202611260945` is 26 November 2026, 9:45.
struct PacificTime: Sendable {
    private let zone: TimeZone

    /// - Returns: `nil` where the system does not know the zone.
    init?() {
        guard let zone = TimeZone(identifier: "America/Los_Angeles") else { return nil }
        self.zone = zone
    }

    /// A moment to the second.
    struct LocalTime: Hashable, Sendable {
        /// Year to minute.
        let minute: Int64
        let second: Int64

        /// ISO 8601, without a zone.
        var text: String {
            func digits(_ number: Int64, _ count: Int) -> String {
                let text = String(number)
                return String(repeating: "0", count: max(0, count - text.count)) + text
            }
            let fields = [minute / 100_000_000, minute / 1_000_000 % 100, minute / 10_000 % 100, minute / 100 % 100, minute % 100, second]
            return
                "\(digits(fields[0], 4))-\(digits(fields[1], 2))-\(digits(fields[2], 2))T\(digits(fields[3], 2)):\(digits(fields[4], 2)):\(digits(second, 2))"
        }
    }

    func moment(_ time: Timestamp) -> LocalTime {
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.seconds)))
        return Self.moment(localSeconds: time.seconds + Int64(offset))
    }

    private static func moment(localSeconds: Int64) -> LocalTime {
        let days = (Double(localSeconds) / 86_400).rounded(.down)
        let second = localSeconds - Int64(days) * 86_400
        let date = CivilDate(daysSince1970: Int(days))
        let day = Int64(date.year) * 10_000 + Int64(date.month) * 100 + Int64(date.day)
        return LocalTime(minute: day * 10_000 + second / 3600 * 100 + second / 60 % 60, second: second % 60)
    }

    /// - Parameter text: ISO 8601 or a beginning of it, whose rest is filled in; with a `Z` it is UTC; or milliseconds since 1970.
    /// - Returns: `nil` for anything else.
    func moment(_ text: String) -> LocalTime? {
        if text.utf8.count > 10, text.utf8.count < 16, let milliseconds = Int64(text), milliseconds >= 0 {
            return moment(Timestamp(milliseconds: milliseconds))
        }
        let isUniversal = text.hasSuffix("Z")
        let fields = Self.fields(isUniversal ? String(text.dropLast()) : text)
        guard let fields, let date = CivilDate(year: fields[0], month: fields[1], day: fields[2]), (1970...9999).contains(fields[0]),
            (0...23).contains(fields[3]), (0...59).contains(fields[4]), (0...60).contains(fields[5])
        else { return nil }
        let seconds = Int64(date.daysSince1970) * 86_400 + Int64(fields[3] * 3600 + fields[4] * 60 + fields[5])
        return isUniversal ? moment(Timestamp(seconds: seconds)) : Self.moment(localSeconds: seconds)
    }

    /// Year, month, day, hour, minute, second.
    private static func fields(_ text: String) -> [Int]? {
        let separators: [[Character]] = [[], ["-"], ["-"], ["T", " ", ":"], [":"], [":"], ["."]]
        var fields = [0, 1, 1, 0, 0, 0, 0]
        var rest = text[...]
        for index in fields.indices {
            if index > 0 {
                guard let separator = rest.first else { break }
                guard separators[index].contains(separator) else { return nil }
                rest = rest.dropFirst()
            }
            let digits = rest.prefix { ("0"..."9").contains($0) }
            let isWhole = index == 0 ? digits.count == 4 : index == 6 ? (1...9).contains(digits.count) : digits.count == 2
            guard isWhole, let number = Int(digits) else { return nil }
            fields[index] = number
            rest = rest.dropFirst(digits.count)
        }
        return rest.isEmpty ? fields : nil
    }
}
