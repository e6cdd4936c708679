internal import Logging

/// How much is logged, and how much of it is kept where the program has a log file of its own.
public struct LogSettings: Decodable, Sendable, Hashable {
    /// `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    let level: Logger.Level
    /// Means nothing where somebody else keeps what the program prints: the journal, or a container engine.
    let retention: LogRetention

    private enum CodingKeys: String, CodingKey { case level, fileMebibytes, days, allMebibytes }

    init(level: Logger.Level, retention: LogRetention = LogRetention()) { (self.level, self.retention) = (level, retention) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func bounded(_ key: CodingKeys, _ range: ClosedRange<Int>) throws -> Int? {
            guard let value = try container.decodeIfPresent(Int.self, forKey: key) else { return nil }
            guard range.contains(value) else {
                let text = "must be from \(range.lowerBound) to \(range.upperBound); it is \(value)"
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: text)
            }
            return value
        }
        let word = try container.decodeIfPresent(String.self, forKey: .level) ?? "info"
        guard let level = Logger.Level(rawValue: word) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(forKey: .level, in: container, debugDescription: "must be one of \(levels); it is '\(word)'")
        }
        var retention = LogRetention()
        if let size = try bounded(.fileMebibytes, 1...4096) { retention.fileBytes = size << 20 }
        if let days = try bounded(.days, 1...3650) { retention.days = days }
        if let size = try bounded(.allMebibytes, 16...1_048_576) { retention.allBytes = size << 20 }
        (self.level, self.retention) = (level, retention)
    }
}
