internal import Clocks

/// A day as people write it, in UTC: the pages know no time zone without a script.
struct PlainDate {
    let text: String

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]

    /// - Parameter milliseconds: Since 1970.
    init(milliseconds: UInt64) {
        let date = CivilDate(daysSince1970: Int(milliseconds / 86_400_000))
        text = "\(date.day) \(Self.months[date.month - 1]) \(date.year)"
    }
}
