enum RandomHex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two lower-case digits for each octet.
    static func digits(octets: Int, using generator: inout some RandomNumberGenerator) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(octets * 2)
        for _ in 0..<octets {
            let octet = UInt8.random(in: .min ... .max, using: &generator)
            text += [digits[Int(octet >> 4)], digits[Int(octet & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
