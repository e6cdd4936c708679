/// Ids and secrets of the stand-in upstream.
enum RandomText {
    /// Without characters that people mistake for others.
    private static let letters = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789")

    /// An authentication code: 7 letters and digits (rest-v2 D7).
    static func code() -> String { String((0..<7).map { _ in letters[Int.random(in: letters.indices)] }) }

    /// Hexadecimal digits of so many random octets.
    static func hexadecimal(octets: Int) -> String { Hexadecimal.text((0..<octets).map { _ in UInt8.random(in: .min ... .max) }) }
}
