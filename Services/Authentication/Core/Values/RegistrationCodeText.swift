internal import Identifiers

/// Seven characters that a person types (rest-v1 §3.4).
///
/// Kept in clear: it is known to whoever reads the screen, lives for at most ten hours, and a digest of 34 bits would hide nothing.
struct RegistrationCodeText: Hashable, Sendable {
    static let length = 7
    /// Upper-case letters and digits without 0, O, 1, I and L, which people confuse.
    static let alphabet = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789".utf8)

    let text: String

    /// - Parameter typed: As a person or an app sent it; letter case does not count.
    init(typed: String) { text = typed.uppercased() }

    /// A random code; every one is equally likely.
    static func random(from source: any RandomSource) -> RegistrationCodeText {
        var characters: [UInt8] = []
        while characters.count < length {
            // A value past the alphabet is thrown away: folding it back would make some characters likelier.
            let usable = source.bytes(length).map { Int($0 & 31) }.filter { $0 < alphabet.count }
            characters += usable.prefix(length - characters.count).map { alphabet[$0] }
        }
        return RegistrationCodeText(typed: String(decoding: characters, as: UTF8.self))
    }
}
