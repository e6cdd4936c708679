internal import SandboxKit

/// Octets for keys, ids and codes: the same seed gives the same ones in the same order, for each purpose by itself.
struct RepeatableOctets: Sendable {
    private let seed: [UInt8]
    private var counters: [String: UInt64] = [:]

    /// - Parameter seed: nil: nothing repeats.
    init(seed: String?) {
        var generator = SystemRandomNumberGenerator()
        self.seed = seed.map { Digest.sha256(Array($0.utf8)) } ?? (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    mutating func next(_ count: Int, for purpose: String) -> [UInt8] {
        let number = counters[purpose, default: 0]
        counters[purpose] = number + 1
        return derived(count, from: "\(purpose)#\(number)")
    }

    /// A new text of the URL alphabet without padding.
    mutating func text(_ count: Int, for purpose: String) -> String { Base64.urlText(next(count, for: purpose)) }

    /// Octets derived from the seed and a name: the same each time.
    func derived(_ count: Int, from name: String) -> [UInt8] {
        var octets: [UInt8] = []
        var block: UInt8 = 0
        while octets.count < count {
            octets += Digest.sha256(seed + Array(name.utf8) + [0, block])
            block += 1
        }
        return Array(octets.prefix(count))
    }
}

/// The names under which teams know people; they depend on the seed alone.
struct AppleNames: Sendable {
    let octets: RepeatableOctets

    /// `sub`: the same for all apps of a team, different in another one.
    func subject(_ account: String, team: String) -> String {
        let digits = octets.derived(24, from: "sub/\(team)/\(account)")
        let first = digits[16..<19].map { String($0 % 100 + 100).suffix(2) }.joined()
        let last = digits[19..<21].map { String($0 % 100 + 100).suffix(2) }.joined()
        return "\(first).\(Hexadecimal.text(digits[..<16])).\(last)"
    }

    /// `transfer_sub`: the person's name between two teams (apple §2.10).
    func transferSubject(_ account: String, from team: String, to target: String) -> String {
        let digits = octets.derived(21, from: "transfer/\(team)/\(target)/\(account)")
        return "\(String(digits[16] % 100 + 100).suffix(2))t.\(Hexadecimal.text(digits[..<16])).\(String(digits[17] % 100 + 100).suffix(2))"
    }

    /// The address that Apple forwards from, the same for one team.
    func relayAddress(_ account: String, team: String) -> String {
        let letters = octets.derived(10, from: "relay/\(team)/\(account)").map { String(UnicodeScalar(UInt8(ascii: "a") + $0 % 26)) }
        return letters.joined() + "@privaterelay.appleid.com"
    }
}
