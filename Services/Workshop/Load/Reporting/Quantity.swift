internal import Foundation

/// Numbers as people read them, with three significant digits.
public enum Quantity {
    /// `0`, `412 µs`, `4.21 ms`, `1.20 s`.
    public static func time(_ nanoseconds: Double) -> String {
        guard nanoseconds.isFinite else { return "–" }
        switch abs(nanoseconds) {
        case 0: return "0"
        case ..<1e3: return "\(digits(nanoseconds)) ns"
        case ..<999_500: return "\(digits(nanoseconds / 1e3)) µs"
        case ..<999_500_000: return "\(digits(nanoseconds / 1e6)) ms"
        default: return "\(digits(nanoseconds / 1e9)) s"
        }
    }

    public static func time(_ nanoseconds: Int64) -> String { time(Double(nanoseconds)) }

    /// `20`, `12.5`, `9,840`, `1.25 M`.
    public static func number(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        switch abs(value) {
        case 0: return "0"
        case ..<999.5: return trimmed(digits(value))
        case ..<999_999.5: return grouped(Int(value.rounded()))
        case ..<999.5e6: return "\(trimmed(digits(value / 1e6))) M"
        default: return "\(trimmed(digits(value / 1e9))) G"
        }
    }

    /// `1,234,567`
    public static func count(_ value: Int) -> String { grouped(value) }

    /// `0 %`, `0.01 %`, `12.5 %`; never 0 for a value above 0.
    public static func share(_ share: Double) -> String {
        guard share.isFinite else { return "–" }
        if share == 0 { return "0 %" }
        if share < 0.00001 { return "< 0.001 %" }
        return "\(trimmed(digits(share * 100))) %"
    }

    /// `38.2 MiB`
    public static func bytes(_ bytes: Double) -> String {
        guard bytes.isFinite else { return "–" }
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var (value, unit) = (bytes, 0)
        while abs(value) >= 1023.5, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        return "\(unit == 0 ? grouped(Int(value)) : trimmed(digits(value))) \(units[unit])"
    }

    /// `2 min 30 s`, `0.5 s`.
    public static func span(_ nanoseconds: Int64) -> String {
        let seconds = Double(nanoseconds) / 1e9
        guard seconds >= 60 else { return nanoseconds == 0 ? "none" : time(nanoseconds).replacingOccurrences(of: ".00 ", with: " ") }
        let whole = Int(seconds.rounded())
        let parts = [(whole / 3600, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")].filter { $0.0 > 0 }
        return parts.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    /// `0`, `50`, `99.9`
    public static func percentile(_ percentile: Double) -> String { trimmed(String(format: "%.6f", locale: posix, percentile)) }

    private static let posix = Locale(identifier: "en_US_POSIX")

    /// Three significant digits, no exponent.
    private static func digits(_ value: Double) -> String {
        // A value that rounds up to the next power of ten has one digit less after the point.
        let magnitude = value == 0 ? 0 : Int(floor(log10(abs(value) * 1.0005) + 1e-9))
        return String(format: "%.\(max(0, min(9, 2 - magnitude)))f", locale: posix, value)
    }

    private static func trimmed(_ text: String) -> String {
        guard text.contains(".") else { return text }
        return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
    }

    private static func grouped(_ value: Int) -> String {
        let digits = String(value.magnitude)
        let groups = stride(from: digits.count, to: 0, by: -3).map { end in
            String(digits.dropFirst(max(0, end - 3)).prefix(end - max(0, end - 3)))
        }
        return (value < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }
}
