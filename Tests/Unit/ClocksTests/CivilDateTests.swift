import Clocks
import Foundation
import Testing

@Suite("Civil dates")
struct CivilDateTests {
    @Test(
        "days that are known",
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (-719_468, 0, 3, 1), (-719_469, 0, 2, 29),
            (-141_427, 1582, 10, 15), (2_932_896, 9999, 12, 31),
        ])
    func known(days: Int, year: Int, month: Int, day: Int) throws {
        let date = try #require(CivilDate(year: year, month: month, day: day))
        #expect(date.daysSince1970 == days)
        #expect(CivilDate(daysSince1970: days) == date)
    }

    @Test("each day of eight centuries follows the one before it, as Foundation counts")
    func agrees() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for days in stride(from: -146_097, through: 146_097, by: 1) {
            let date = CivilDate(daysSince1970: days)
            #expect(date.daysSince1970 == days)
            guard days.isMultiple(of: 97) else { continue }
            let parts = calendar.dateComponents([.year, .month, .day], from: Date(timeIntervalSince1970: Double(days) * 86_400))
            if days > -140_000 { #expect(parts.year == date.year && parts.month == date.month && parts.day == date.day) }
        }
    }

    @Test(
        "days that do not exist", arguments: [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 13, 1), (2024, 0, 1), (2024, 1, 0), (2024, 1, 32)])
    func refuses(year: Int, month: Int, day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }
}
