internal import Clocks
internal import FoundationEssentials
internal import Hummingbird
internal import Logging
internal import SandboxKit
internal import Synchronization

/// Every call to the stand-in Apple, with hashes for secrets.
final class AppleLog: Sendable {
    /// Most entries kept; the oldest goes first. Counters go on.
    static let limit = 5000

    struct Entry: Sendable, Codable, Equatable {
        /// Milliseconds since 1970, by the stand-in's clock.
        let at: Int64
        let endpoint: AppleEndpoint
        let method: String
        let path: String
        /// 0: no answer.
        let status: Int
        let outcome: String
        /// The fault that was applied to the call.
        let fault: AppleFault.Kind?
        let fields: [String: String]
    }

    struct Report: Sendable, Codable, Equatable {
        /// Calls by endpoint.
        var counters: [String: Int] = [:]
        /// Newest last.
        var entries: [Entry] = []
    }

    private let content = Mutex(Report())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    func note(_ entry: Entry) {
        logger.info(
            "apple_answered", metadata: ["endpoint": "\(entry.endpoint.rawValue)", "status": "\(entry.status)", "outcome": "\(entry.outcome)"])
        content.withLock { content in
            content.counters[entry.endpoint.rawValue, default: 0] += 1
            content.entries.append(entry)
            if content.entries.count > Self.limit { content.entries.removeFirst() }
        }
    }

    func reset() { content.withLock { $0 = Report() } }

    func report() -> Report { content.withLock { $0 } }
}

/// The log's record of a call: its parameters, with a hash in place of every secret.
struct LoggedFields: Sendable {
    private static let secrets: Set<String> = [
        "client_secret", "code", "refresh_token", "token", "access_token", "id_token", "existingAutoSignInTokenValue", "newAutoSignInTokenValue",
        "autoSignInTokenValue", "value", "context", "nonce", "state", "transaction",
    ]
    /// Claims of the caller's own JWT that are not secret.
    private static let claims = ["iss", "sub", "aud", "bid", "iat", "exp"]

    private(set) var fields: [String: String] = [:]
    /// JWTs of the caller.
    private(set) var credentials: [String] = []

    init(_ request: AppleRequest) {
        add(form: request.query)
        switch request.contentType {
        case "application/x-www-form-urlencoded": add(form: String(decoding: request.body, as: UTF8.self))
        case "application/json": add(json: request.body)
        default: break
        }
        if let bearer = request.bearer { add(credential: bearer, as: "bearer") }
    }

    /// The replacement for a secret: `sha256:` and 64 hexadecimal digits.
    static func hash(_ secret: String) -> String { "sha256:" + Hexadecimal.text(Digest.sha256(Array(secret.utf8))) }

    private mutating func add(form text: String) {
        let form = FormFields(encoded: text)
        for name in form.names { add(name, ((try? form.single(name)) ?? nil) ?? "?") }
    }

    private mutating func add(json octets: [UInt8]) {
        let members = try? JSONDecoder().decode([String: JsonValue].self, from: Data(octets))
        for (name, value) in members ?? [:] { if let text = value.text { add(name, text) } }
    }

    private mutating func add(_ name: String, _ value: String) {
        if name == "client_secret" { return add(credential: value, as: name) }
        fields[String(name.prefix(100))] = Self.secrets.contains(name) ? Self.hash(value) : String(value.prefix(500))
    }

    private mutating func add(credential: String, as name: String) {
        fields[name] = Self.hash(credential)
        credentials.append(credential)
        guard let token = CompactToken(credential) else { return }
        for claim in Self.claims {
            fields["\(name).\(claim)"] = token.claims[claim].flatMap { $0.text ?? $0.number.map(String.init) }
        }
        fields["\(name).kid"] = token.header["kid"]?.text
    }
}

/// A call to the stand-in Apple, read whole.
struct AppleRequest: Sendable {
    let method: HTTPRequest.Method
    let path: String
    /// Still encoded.
    let query: String
    let headers: HTTPFields
    let body: [UInt8]
    /// The captured parts of the path.
    let parameters: Parameters
    let now: Timestamp

    /// Without parameters, in small letters.
    var contentType: String { headers[.contentType]?.split(separator: ";").first?.lowercased().filter { $0 != " " } ?? "" }

    /// The token of the header `Authorization`.
    var bearer: String? {
        guard let header = headers[.authorization], header.lowercased().hasPrefix("bearer ") else { return nil }
        return String(header.dropFirst(7))
    }

    /// A captured part of the path.
    func parameter(_ name: String) -> String { parameters.get(name) ?? "" }

    /// A value of the query; nil where it is absent, repeated or badly encoded.
    func queryValue(_ name: String) -> String? { (try? FormFields(encoded: query).single(name)) ?? nil }
}

/// The pending faults of each endpoint, first in first out.
final class AppleFaults: Sendable {
    private let queues = Mutex<[AppleEndpoint: [AppleFault]]>([:])

    func append(_ faults: [AppleFault], for endpoint: AppleEndpoint) {
        queues.withLock { $0[endpoint, default: []] += faults }
    }

    func reset(_ endpoint: AppleEndpoint? = nil) {
        queues.withLock { queues in
            if let endpoint { queues[endpoint] = nil } else { queues = [:] }
        }
    }

    /// The fault for the next call; counts that call.
    func take(_ endpoint: AppleEndpoint) -> AppleFault? {
        queues.withLock { queues in
            guard let fault = queues[endpoint]?.first else { return nil }
            let times = fault.times ?? 1
            if times == 1 {
                queues[endpoint]?.removeFirst()
            } else if times > 1 {
                queues[endpoint]?[0].times = times - 1
            }
            return fault
        }
    }

    func waiting() -> [String: [AppleFault]] {
        queues.withLock { queues in Dictionary(uniqueKeysWithValues: queues.filter { !$0.value.isEmpty }.map { ($0.key.rawValue, $0.value) }) }
    }
}

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
    /// The number of calls that it affects; 0: all; default 1.
    var times: Int?

    func check(_ key: String) throws(SettingsFault) {
        if kind == .answer, !(100...599).contains(status ?? 0) { throw SettingsFault(key: "\(key).status", problem: "is not from 100 to 599") }
        if kind == .latency, !(1...Self.longestDelay).contains(milliseconds ?? 0) {
            throw SettingsFault(key: "\(key).milliseconds", problem: "is not from 1 to \(Self.longestDelay)")
        }
        guard (0...1_000_000).contains(times ?? 1) else { throw SettingsFault(key: "\(key).times", problem: "is not from 0 to 1000000") }
    }
}

/// The endpoints that can be told to fail, by the names of the log.
enum AppleEndpoint: String, Sendable, Codable, CaseIterable {
    case keys, authorize, token, revoke, usermigrationinfo, update, delete
    /// A device's own framework: reading, changing and deleting the token, signing in.
    case device
}
