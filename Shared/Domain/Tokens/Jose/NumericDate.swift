/// Instants of tokens: seconds since 1970 as a JSON number, which may have a fraction (RFC 7519 §2).
public enum NumericDate {
    public enum Rounding: Sendable {
        /// For `exp` and `iat`.
        case down
        /// For `nbf`.
        case up
    }

    /// Doubles hold every whole number up to it: what another party wrote beyond it may not be what it meant.
    private static let largest: Int64 = 1 << 53
    /// Digits of `largest`.
    private static let mostDigits = 16

    /// The whole seconds of a number.
    /// - Parameter text: A number of JSON, as it is written; it is read digit by digit, so that no fraction is lost.
    /// - Returns: `nil` beyond 2^53 in either direction.
    public static func seconds(_ text: String, _ rounding: Rounding) -> Int64? {
        let octets = Array(text.utf8)
        let isNegative = octets.first == UInt8(ascii: "-")
        let mark = octets.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") } ?? octets.endIndex
        let mantissa = octets[(isNegative ? 1 : 0)..<mark]
        let point = mantissa.firstIndex(of: UInt8(ascii: ".")) ?? mantissa.endIndex
        let digits = (mantissa[..<point] + mantissa[point...].dropFirst()).map { $0 &- UInt8(ascii: "0") }
        guard !digits.isEmpty, digits.allSatisfy({ $0 < 10 }) else { return nil }
        guard let first = digits.firstIndex(where: { $0 != 0 }) else { return 0 }
        guard let exponent = exponent(octets[mark...]) else { return nil }
        // Digits before the point, from the first that counts.
        let whole = (point - mantissa.startIndex) - first + exponent
        guard whole <= mostDigits else { return nil }
        let counted = digits[first...]
        var value: Int64 = 0
        for place in 0..<max(0, whole) { value = value * 10 + Int64(place < counted.count ? counted[first + place] : 0) }
        guard value <= largest else { return nil }
        let hasFraction = whole < counted.count && counted.dropFirst(max(0, whole)).contains { $0 != 0 }
        if isNegative { return -value - (hasFraction && rounding == .down ? 1 : 0) }
        return value + (hasFraction && rounding == .up ? 1 : 0)
    }

    /// - Parameter octets: `e` and what follows; empty: none.
    /// - Returns: At most 100,000 in either direction, which is more than a token is long; `nil` beyond it.
    private static func exponent(_ octets: ArraySlice<UInt8>) -> Int? {
        guard !octets.isEmpty else { return 0 }
        let bound = 100_000
        guard let value = Int(String(decoding: octets.dropFirst(), as: UTF8.self)) else {
            return octets.dropFirst().first == UInt8(ascii: "-") ? -bound : nil
        }
        return value > bound ? nil : max(value, -bound)
    }
}
