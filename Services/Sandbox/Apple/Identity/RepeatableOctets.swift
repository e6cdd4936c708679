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
