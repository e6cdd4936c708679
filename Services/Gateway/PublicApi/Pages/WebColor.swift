internal import Foundation

/// A colour, and how well it can be told from another one (WCAG 2.2 §1.4.3).
struct WebColor: Equatable {
    /// From 0 to 255.
    var red, green, blue: Double

    static let white = WebColor(red: 255, green: 255, blue: 255)
    static let black = WebColor(red: 0, green: 0, blue: 0)

    /// The contrast that text needs (level AA).
    static let readable = 4.5

    init(red: Double, green: Double, blue: Double) { (self.red, self.green, self.blue) = (red, green, blue) }

    /// - Parameter text: `#rrggbb`; `nil` when it is none.
    init?(_ text: String) {
        guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#"), let value = UInt32(text.dropFirst(), radix: 16),
            text.utf8.dropFirst().first != UInt8(ascii: "+")
        else { return nil }
        self.init(red: Double(value >> 16), green: Double(value >> 8 & 255), blue: Double(value & 255))
    }

    /// `#rrggbb`.
    var text: String { "#" + [red, green, blue].map(Self.hex).joined() }

    /// From 1 to 21.
    func contrast(with other: WebColor) -> Double {
        let (first, second) = (luminance, other.luminance)
        return (max(first, second) + 0.05) / (min(first, second) + 0.05)
    }

    /// Black or white, whichever can be read better on it: one of both always can.
    var ink: WebColor { contrast(with: .white) >= contrast(with: .black) ? .white : .black }

    /// The same or as little darker or lighter as it takes to be read on each of the grounds.
    /// - Parameter end: Black for light grounds, white for dark ones.
    func readable(on grounds: [WebColor], towards end: WebColor) -> WebColor {
        for step in 0..<20 {
            let mixed = mixed(with: end, share: Double(step) / 20)
            if grounds.allSatisfy({ mixed.contrast(with: $0) >= Self.readable }) { return mixed }
        }
        return end
    }

    private func mixed(with other: WebColor, share: Double) -> WebColor {
        // Whole numbers, as they will be written: the contrast is judged of what is shown.
        WebColor(
            red: (red + (other.red - red) * share).rounded(), green: (green + (other.green - green) * share).rounded(),
            blue: (blue + (other.blue - blue) * share).rounded())
    }

    private var luminance: Double { 0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue) }

    private static func linear(_ part: Double) -> Double {
        let value = part / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func hex(_ part: Double) -> String {
        let digits = String(Int(part), radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
}
