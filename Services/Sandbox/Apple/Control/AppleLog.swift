internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Hummingbird
internal import Logging
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

/// What the log keeps of a call: its parameters, with a hash in place of every secret.
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
