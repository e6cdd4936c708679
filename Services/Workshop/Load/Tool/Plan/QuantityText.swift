/// Reads the quantities of the command line.
public enum QuantityText {
    /// - Parameter text: A number with a unit: `250us`, `10ms`, `1.5s`, `2m`, `1h`; a bare number is in seconds.
    /// - Returns: Nanoseconds; `nil` when it is no such text, or below 0.
    public static func nanoseconds(_ text: some StringProtocol) -> Nanoseconds? {
        let units: [(String, Double)] = [
            ("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9),
        ]
        for (unit, factor) in units where text.hasSuffix(unit) {
            // `10ms` ends with `s` too: the number before the unit decides.
            if let number = number(text.dropLast(unit.count)) { return whole(number * factor) }
        }
        return number(text).flatMap { whole($0 * 1e9) }
    }

    /// - Parameter text: `1000`, `2.5k`, `1000/s`, `600/m`.
    /// - Returns: Per second; `nil` when it is no such text, or not above 0.
    public static func rate(_ text: some StringProtocol) -> Double? {
        let per: [(String, Double)] = [("/s", 1), ("/m", 60), ("/h", 3600)]
        for (suffix, seconds) in per where text.hasSuffix(suffix) {
            return count(text.dropLast(suffix.count)).map { $0 / seconds }.flatMap(positive)
        }
        return count(text).flatMap(positive)
    }

    /// - Parameter text: `1000`, `2.5k`, `1M`.
    /// - Returns: `nil` when it is no such text, or below 0.
    public static func count(_ text: some StringProtocol) -> Double? {
        for (suffix, factor) in [("k", 1e3), ("K", 1e3), ("M", 1e6)] where text.hasSuffix(suffix) {
            return number(text.dropLast()).map { $0 * factor }
        }
        return number(text)
    }

    private static func number(_ text: some StringProtocol) -> Double? {
        guard let first = text.first, first.isASCII, first.isNumber, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
        return Double(text)
    }

    private static func positive(_ number: Double) -> Double? { number > 0 && number.isFinite ? number : nil }

    private static func whole(_ number: Double) -> Nanoseconds? { Int64(exactly: number.rounded()) }
}
