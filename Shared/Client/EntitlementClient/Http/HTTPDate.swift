internal import Octets
internal import Foundation

/// The date of an HTTP header (RFC 9110 §5.6.7), in the one form that servers may send. It computes days by itself: apps take this library without any other.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// - Parameter text: For example `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func parse(_ text: String) -> Date? {
        guard let match = text.wholeMatch(of: /[A-Z][a-z]{2}, ([0-9]{2}) ([A-Z][a-z]{2}) ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT/),
            let day = Int(match.1), let month = months.firstIndex(of: String(match.2)), let year = Int(match.3), let hour = Int(match.4),
            let minute = Int(match.5), let second = Int(match.6), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = days(year: year, month: month + 1, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Days since 1970 of a date in the Gregorian calendar: years begin in March, so that the day of a leap year comes last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
