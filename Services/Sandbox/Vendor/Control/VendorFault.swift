/// One fault that tests can set for operations of the stand-in upstream.
struct UpstreamFault: Sendable, Codable, Equatable {
    enum Kind: String, Sendable, Codable {
        /// Answers `status` with `headers` and `body` instead, and does nothing.
        case answer
        /// Answers the enhanced error `code` as a whole.
        case error
        /// Does what it should, and changes members of the answer by `merge` (RFC 7396).
        case merge
        /// Does what it should, after `milliseconds`.
        case delay
        /// Never answers and does nothing.
        case hang
        /// Does what it should, and never answers.
        case applyThenHang
        /// Resets the connection and does nothing.
        case reset
        /// Does what it should, and resets the connection.
        case applyThenReset
        /// Does what it should, sends half of the answer and closes the connection.
        case truncate

        var hangs: Bool { self == .hang || self == .applyThenHang }
        var resets: Bool { self == .reset || self == .applyThenReset }
        var applies: Bool { [.applyThenHang, .applyThenReset, .truncate, .merge, .delay].contains(self) }
    }

    static let longestDelay = 600_000
    static let longestBody = 16 * 1024 * 1024

    let kind: Kind
    /// Of `answer` and of an `error` that the table lacks.
    var status: Int?
    var headers: [String: String]?
    var body: String?
    /// In place of `body`: octets that are no text.
    var bodyBase64: String?
    /// The body is filled with blanks to so many octets.
    var padTo: Int?
    var code: String?
    var action: String?
    var details: String?
    var merge: AppleClaim?
    var milliseconds: Int?
    /// Only calls of this service provider, MVPD or device; nil: all.
    var serviceProvider: String?
    var mvpd: String?
    var device: String?
    /// So many calls pass first; default 0.
    var after: Int?
    /// How many calls it affects; 0: all; default 1.
    var times: Int?

    func check(_ key: String) throws(SettingsFault) {
        if kind == .answer, !(200...599).contains(status ?? 0) { throw SettingsFault(key: "\(key).status", problem: "is not from 200 to 599") }
        if kind == .error, code?.isEmpty ?? true { throw SettingsFault(key: "\(key).code", problem: "is missing") }
        if kind == .merge, merge == nil { throw SettingsFault(key: "\(key).merge", problem: "is missing") }
        if kind == .delay { try UpstreamBehaviour.check(milliseconds ?? 0, "\(key).milliseconds", 1...Self.longestDelay) }
        if let status, !(200...599).contains(status) { throw SettingsFault(key: "\(key).status", problem: "is not from 200 to 599") }
        if let bodyBase64, Base64.octets(bodyBase64) == nil { throw SettingsFault(key: "\(key).bodyBase64", problem: "is no Base64") }
        try UpstreamBehaviour.check(padTo ?? 0, "\(key).padTo", 0...Self.longestBody)
        try UpstreamBehaviour.check(times ?? 1, "\(key).times", 0...1_000_000)
        try UpstreamBehaviour.check(after ?? 0, "\(key).after", 0...1_000_000)
    }

    func fits(_ call: UpstreamCall) -> Bool {
        if let serviceProvider, call.parameter("sp") != serviceProvider { return false }
        if let mvpd, call.parameter("mvpd") != mvpd { return false }
        guard let device else { return true }
        return (try? DeviceIdentifier(header: call.header("ap-device-identifier")))?.octets == Array(device.utf8)
    }
}
