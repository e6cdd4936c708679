internal import Foundation

/// Times for people: three digits and a unit.
public enum TimeText {
    /// - Parameter nanoseconds: A span.
    /// - Returns: `850 ns`, `12.3 µs`, `4.56 ms`, `1.20 s`, `95.0 s`.
    public static func text(_ nanoseconds: Int64) -> String { text(Double(nanoseconds)) }

    public static func text(_ nanoseconds: Double) -> String {
        let units: [(String, Double)] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)]
        for (unit, size) in units where nanoseconds.magnitude >= size * 0.9995 { return "\(digits(nanoseconds / size)) \(unit)" }
        return String(format: "%.0f ns", nanoseconds)
    }

    private static func digits(_ number: Double) -> String {
        switch number.magnitude {
        case ..<9.995: String(format: "%.2f", number)
        case ..<99.95: String(format: "%.1f", number)
        default: String(format: "%.0f", number)
        }
    }
}
