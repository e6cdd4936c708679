internal import StrictJson

/// A call as it came to a recorder or a player.
struct TapeCall: Sendable {
    let method: String
    /// Path and query.
    let uri: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

    var path: String { String(uri.prefix { $0 != "?" }) }
    var query: String { uri.firstIndex(of: "?").map { String(uri[uri.index(after: $0)...]) } ?? "" }

    /// True when the API is called. All else that comes are people's browsers.
    var isOfAPI: Bool {
        path.hasPrefix("/o/client/") || path.hasPrefix("/reset-tempass/") || path.hasPrefix("/api/v2/") && !path.hasPrefix("/api/v2/authenticate/")
    }
}

/// An answer as it goes out.
struct TapeAnswer: Sendable {
    let status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

    static func json(_ status: Int, _ value: TapeValue) -> TapeAnswer {
        TapeAnswer(status: status, headers: [("Content-Type", "application/json")], body: Array(value.text.utf8))
    }

    static func redirect(_ status: Int, _ address: String) -> TapeAnswer { TapeAnswer(status: status, headers: [("Location", address)]) }

    /// An answer of the tool's own, in the form of upstream's errors.
    static func problem(_ status: Int, _ code: String, _ message: String) -> TapeAnswer {
        json(
            status,
            .object([("status", .number("\(status)")), ("code", .string(code)), ("message", .string(message)), ("action", .string("none"))]))
    }
}

/// A call and its answer as they stand on a tape: one line.
struct TapedExchange: Sendable {
    /// Names of `request` and `answer`.
    enum Body: Sendable {
        case none
        /// Names and values, by name.
        case form([(String, String)])
        case json(TapeValue)
        case text(String)

        fileprivate var member: (String, TapeValue)? {
            switch self {
            case .none: nil
            case .form(let fields): ("form", .array(fields.map { .array([.string($0.0), .string($0.1)]) }))
            case .json(let value): ("json", value)
            case .text(let text): ("text", .string(text))
            }
        }
    }

    struct Request: Sendable {
        let method: String
        /// Without the query.
        let path: String
        let query: [(String, String)]
        let headers: [(String, TapeValue)]
        let body: Body

        /// By which calls are the same: method, path, query and body, with a star for each pseudonym.
        var key: (text: String, pseudonyms: [String]) {
            let query = TapedExchange.pairs(query).text
            let (pseudonyms, rest) = Pseudonyms.taken(from: "\(method) \(path) \(query) \(body.member.map { "\($0.0) \($0.1.text)" } ?? "")")
            return (rest, pseudonyms)
        }

        /// The kind of the device, as far as the tape tells.
        var description: String {
            let told = headers.first { $0.0 == "x-device-info" }?.1.sorted.text ?? ""
            return Pseudonyms.taken(from: told).rest
        }

        /// The pseudonym of the device that the call is for.
        var device: String? {
            headers.first { $0.0 == "ap-device-identifier" }.flatMap { $0.1.string }.flatMap { Pseudonyms.taken(from: $0).pseudonyms.first }
        }
    }

    struct Answer: Sendable {
        let status: Int
        let headers: [(String, String)]
        let body: Body
    }

    /// When the answer came, in milliseconds since 1970.
    let at: Int64
    let request: Request
    let answer: Answer

    /// Without the end of the line.
    var line: String {
        var asked: [(String, TapeValue)] = [("method", .string(request.method)), ("path", .string(request.path))]
        if !request.query.isEmpty { asked.append(("query", Self.pairs(request.query))) }
        asked.append(("headers", .object(request.headers)))
        if let body = request.body.member { asked.append(body) }
        var answered: [(String, TapeValue)] = [
            ("status", .number("\(answer.status)")), ("headers", .object(answer.headers.map { ($0.0, .string($0.1)) })),
        ]
        if let body = answer.body.member { answered.append(body) }
        return TapeValue.object([("at", .number("\(at)")), ("request", .object(asked)), ("answer", .object(answered))]).text
    }

    fileprivate static func pairs(_ pairs: [(String, String)]) -> TapeValue { .array(pairs.map { .array([.string($0.0), .string($0.1)]) }) }

    init(at: Int64, request: Request, answer: Answer) { (self.at, self.request, self.answer) = (at, request, answer) }

    /// Reads a line.
    /// - Throws: `TapeRejection` that says what is wrong with it.
    init(_ line: [UInt8]) throws(TapeRejection) {
        let root: TapeValue
        do { root = TapeValue(try JsonDocument(parsing: line).root) } catch {
            throw TapeRejection("is not JSON (column \(error.position.column): \(error.message))")
        }
        guard let at = root["at"]?.integer, (0...Self.latest).contains(at) else { throw TapeRejection("lacks 'at', milliseconds since 1970") }
        guard let asked = root["request"], let method = asked["method"]?.string, let path = asked["path"]?.string, path.hasPrefix("/") else {
            throw TapeRejection("lacks 'request' with 'method' and 'path'")
        }
        guard let answered = root["answer"], let status = answered["status"]?.integer, (200...599).contains(status) else {
            throw TapeRejection("lacks 'answer' with a 'status' from 200 to 599")
        }
        var headers: [(String, String)] = []
        for member in answered["headers"]?.members ?? [] {
            guard let value = member.value.string, Self.isHeader(member.name, value) else { throw TapeRejection("has a header that cannot be sent") }
            headers.append((member.name, value))
        }
        self.at = at
        request = Request(
            method: method, path: path, query: try Self.fields(asked["query"], "query"),
            headers: (asked["headers"]?.members ?? []).map { ($0.name, $0.value) }, body: try Self.body(asked))
        answer = Answer(status: Int(status), headers: headers, body: try Self.body(answered))
    }

    /// The year 2200.
    private static let latest: Int64 = 7_258_118_400_000

    private static func body(_ part: TapeValue) throws(TapeRejection) -> Body {
        if let json = part["json"] { return .json(json) }
        if let text = part["text"]?.string { return .text(text) }
        return part["form"] == nil ? .none : .form(try fields(part["form"], "form"))
    }

    private static func fields(_ value: TapeValue?, _ name: String) throws(TapeRejection) -> [(String, String)] {
        guard let value else { return [] }
        guard case .array(let elements) = value else { throw TapeRejection("has a '\(name)' that is no list of names and values") }
        var fields: [(String, String)] = []
        for element in elements {
            guard case .array(let pair) = element, pair.count == 2, let name = pair[0].string, let value = pair[1].string else {
                throw TapeRejection("has a '\(name)' that is no list of names and values")
            }
            fields.append((name, value))
        }
        return fields
    }

    private static func isHeader(_ name: String, _ value: String) -> Bool {
        let isName = (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x2d }
        return isName && value.utf8.count <= 4096 && value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}

/// The problem of a tape's line.
struct TapeRejection: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
