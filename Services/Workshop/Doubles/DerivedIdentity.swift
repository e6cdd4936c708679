internal import Contracts
internal import Cryptography

/// Ids that follow from what they are for: the same in each run, without anything being remembered.
enum DerivedIdentity {
    /// 64 lower-case hex digits.
    static func digest(_ kind: String, _ parts: String...) -> String {
        Hex.encode(SHA256.hash(([kind] + parts).joined(separator: "\u{1f}")))
    }

    /// In the form of a UUID.
    static func uuid(_ kind: String, _ parts: String...) -> String {
        let digits = Hex.encode(SHA256.hash(([kind] + parts).joined(separator: "\u{1f}")).prefix(16))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static let letters = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789".utf8)
    private static let codes: UInt64 = 27_512_614_111

    /// The registration code of that number, 7 characters; all numbers below 27 billion give different codes.
    static func registrationCode(_ number: UInt64) -> String {
        var rest = ((number % codes) &* 15_485_863 &+ 7_919_000_003) % codes
        var characters: [UInt8] = []
        for _ in 0..<7 {
            characters.append(letters[Int(rest % 31)])
            rest /= 31
        }
        return String(decoding: characters, as: UTF8.self)
    }
}
