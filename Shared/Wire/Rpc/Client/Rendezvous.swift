/// Highest random weight (Thaler, Ravishankar 1998). Every caller that asks for the best of a set by the same number gets the same member. A member
/// that comes or goes moves its own share only. Never for secrets.
enum Rendezvous {
    /// A number for a text, the same in every process.
    static func key(of text: String) -> UInt64 {
        // FNV-1a, spread out.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return mixed(hash)
    }

    /// Returns how good a member is for a number: the highest score is the best.
    static func score(_ number: UInt64, _ member: UInt64) -> UInt64 { mixed(number &+ member &* 0x9e37_79b9_7f4a_7c15) }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
