/// One fault that tests can set for an endpoint.
struct AppleFault: Sendable, Codable, Equatable {
    enum Kind: String, Sendable, Codable {
        /// Answers `status` with `headers` and `body` instead.
        case answer
        /// Answers as it should, after `milliseconds`.
        case latency
        /// Never answers and does nothing.
        case timeout
        /// Does what it should, and never answers.
        case applyThenTimeout
        /// Resets the connection.
        case reset
        /// Does what it should, and breaks off in the middle of the answer.
        case truncated
        /// Answers 200 with `application/json` that is not JSON.
        case notJSON
        /// Answers as it should, but as `text/plain`.
        case contentType

        var hangs: Bool { self == .timeout || self == .applyThenTimeout }
    }

    static let longestDelay = 600_000

    let kind: Kind
    var status: Int?
    var headers: [String: String]?
    var body: String?
    var milliseconds: Int?
    /// How many calls it affects; 0: all; default 1.
    var times: Int?

    func check(_ key: String) throws(SettingsFault) {
        if kind == .answer, !(100...599).contains(status ?? 0) { throw SettingsFault(key: "\(key).status", problem: "is not from 100 to 599") }
        if kind == .latency, !(1...Self.longestDelay).contains(milliseconds ?? 0) {
            throw SettingsFault(key: "\(key).milliseconds", problem: "is not from 1 to \(Self.longestDelay)")
        }
        guard (0...1_000_000).contains(times ?? 1) else { throw SettingsFault(key: "\(key).times", problem: "is not from 0 to 1000000") }
    }
}
