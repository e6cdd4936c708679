/// The object `config.usage`: how long counts are kept, and how many are told apart.
public struct UsageSettings: Decodable, Hashable, Sendable {
    /// Days for which the sums of each minute are kept, 1 to 90; 7 when it is left out.
    public let minuteDays: Int
    /// Days for which the sums of each hour are kept, 1 to 1100; 90 when it is left out.
    public let hourDays: Int
    /// Days for which the sums of each day are kept, 1 to 3700; 1096, three years, when it is left out.
    public let dayDays: Int
    /// The number of combinations of dimensions that are told apart, 1000 to 1000000; 50000 when it is left out.
    public let combinations: Int

    private enum CodingKeys: String, CodingKey {
        case minuteDays, hourDays, dayDays, combinations
    }

    public init(minuteDays: Int = 7, hourDays: Int = 90, dayDays: Int = 1096, combinations: Int = 50_000) {
        self.minuteDays = minuteDays
        self.hourDays = hourDays
        self.dayDays = dayDays
        self.combinations = combinations
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys, _ range: ClosedRange<Int>, _ usual: Int) throws -> Int {
            let number = try container.decodeIfPresent(Int.self, forKey: key) ?? usual
            guard range.contains(number) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "must be from \(range.lowerBound) to \(range.upperBound); it is \(number)")
            }
            return number
        }
        let usual = UsageSettings()
        minuteDays = try number(.minuteDays, 1...90, usual.minuteDays)
        hourDays = try number(.hourDays, 1...1100, usual.hourDays)
        dayDays = try number(.dayDays, 1...3700, usual.dayDays)
        combinations = try number(.combinations, 1000...1_000_000, usual.combinations)
    }
}
