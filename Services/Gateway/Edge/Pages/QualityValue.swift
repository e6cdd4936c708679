/// The weight of a preference (RFC 9110 §12.4.2).
struct QualityValue: Comparable {
    /// 0, "not at all", to 1000.
    let thousandths: Int

    /// - Parameter text: `q=0.8`; what is none counts as 0, so that a broken one is not preferred.
    init(_ text: some StringProtocol) {
        var digits = text.utf8.dropFirst(2)
        guard text.utf8.count <= 7, text.lowercased().hasPrefix("q="), let first = digits.popFirst(), first == 0x30 || first == 0x31 else {
            thousandths = 0
            return
        }
        guard let point = digits.popFirst() else {
            thousandths = first == 0x31 ? 1000 : 0
            return
        }
        guard point == UInt8(ascii: "."), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            thousandths = 0
            return
        }
        var value = 0
        for place in 0..<3 {
            value *= 10
            if let digit = digits.dropFirst(place).first { value += Int(digit - 0x30) }
        }
        // More than 1 is none.
        thousandths = first == 0x31 ? (digits.allSatisfy { $0 == 0x30 } ? 1000 : 0) : value
    }

    static func < (first: Self, second: Self) -> Bool { first.thousandths < second.thousandths }
}
