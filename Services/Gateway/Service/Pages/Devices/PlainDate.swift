/// A day as people write it, in UTC: the pages know no time zone without a script.
struct PlainDate {
    let text: String

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]

    /// - Parameter milliseconds: Since 1970.
    init(milliseconds: UInt64) {
        // Days from the first of March of a leap cycle of 400 years: then the leap day is the last of its year.
        let days = Int(milliseconds / 86_400_000) + 719_468
        let day = days % 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let monthOfYear = month < 10 ? month + 2 : month - 10
        let number = days / 146_097 * 400 + year + (monthOfYear < 2 ? 1 : 0)
        text = "\(dayOfYear - (153 * month + 2) / 5 + 1) \(Self.months[monthOfYear]) \(number)"
    }
}
