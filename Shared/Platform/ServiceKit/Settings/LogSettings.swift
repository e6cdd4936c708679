internal import Logging

/// How much is logged.
public struct LogSettings: Decodable, Sendable, Hashable {
    /// `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    let level: Logger.Level

    private enum CodingKeys: String, CodingKey { case level }

    init(level: Logger.Level) { self.level = level }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let word = try container.decodeIfPresent(String.self, forKey: .level) ?? "info"
        guard let level = Logger.Level(rawValue: word) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(forKey: .level, in: container, debugDescription: "must be one of \(levels); it is '\(word)'")
        }
        self.level = level
    }
}
