/// The object `gateway.throttle`: how many requests an address may make (rest-v1 §2.7).
public struct ThrottleSettings: Sendable {
    /// Requests per second and address that pass for ever, 1 to 1000000.
    public var perSecond: Int
    /// Requests that may come beside those at once, 0 to 1000000.
    public var burst: Int
    /// Registration codes that have not ended which an address may have, 1 to 1000000.
    public var codes: Int
    /// Client addresses that are neither throttled, nor paused for wrong codes, nor limited in codes; an address that a trusted proxy names is what counts.
    public var exempt: [AddressRange]

    public init(perSecond: Int = 1, burst: Int = 10, codes: Int = 1000, exempt: [AddressRange] = []) {
        self.perSecond = perSecond
        self.burst = burst
        self.codes = codes
        self.exempt = exempt
    }

    /// What is wrong: key below `throttle` and text.
    var problem: (key: String, text: String)? {
        guard (1...1_000_000).contains(perSecond) else { return ("perSecond", "must be from 1 to 1000000") }
        guard (0...1_000_000).contains(burst) else { return ("burst", "must be from 0 to 1000000") }
        guard (1...1_000_000).contains(codes) else { return ("codes", "must be from 1 to 1000000") }
        return nil
    }
}

extension ThrottleSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case perSecond, burst, codes, exempt
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            perSecond: try container.decodeIfPresent(Int.self, forKey: .perSecond) ?? 1,
            burst: try container.decodeIfPresent(Int.self, forKey: .burst) ?? 10,
            codes: try container.decodeIfPresent(Int.self, forKey: .codes) ?? 1000,
            exempt: try AddressRange.list(container, .exempt))
    }
}

extension AddressRange {
    /// The blocks under a key; none when it is absent.
    static func list<Key: CodingKey>(_ container: KeyedDecodingContainer<Key>, _ key: Key) throws -> [AddressRange] {
        try (container.decodeIfPresent([String].self, forKey: key) ?? []).map { text in
            guard let range = AddressRange(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "must hold addresses or blocks like 10.0.0.0/8; one is '\(text)'")
            }
            return range
        }
    }
}
