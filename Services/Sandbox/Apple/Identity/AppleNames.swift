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
