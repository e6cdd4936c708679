internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import StrictJson

/// The JSON object that an app sends. Errors name a member that is missing or of another type; members that nobody asks for are ignored.
struct AppBody {
    private let members: [JsonMember]
    /// Before the name of a member in messages.
    private let prefix: String

    /// - Throws: `invalid_request` when the body is no JSON object; an empty body is an object without members.
    init(_ exchange: Exchange) throws(Fault) {
        guard exchange.body.readableBytes > 0 else {
            self.init(members: [], prefix: "")
            return
        }
        guard Exchange.mediaType(exchange.headers) == "application/json" else {
            throw Fault(.invalidRequest, "The body must be application/json")
        }
        try self.init(Array(exchange.body.readableBytesView))
    }

    /// - Throws: `invalid_request` when it is no JSON object.
    init(_ text: [UInt8]) throws(Fault) {
        let document: JsonDocument
        do { document = try JsonDocument(parsing: text) } catch {
            // Not the parser's words: they may quote what was sent.
            throw Fault(.invalidRequest, "The body is not JSON: \(error.position)")
        }
        guard case .object(let members) = document.root.content else { throw Fault(.invalidRequest, "The body must be a JSON object") }
        self.init(members: members, prefix: "")
    }

    private init(members: [JsonMember], prefix: String) {
        self.members = members
        self.prefix = prefix
    }

    /// A text that must be there.
    /// - Throws: `invalid_request` naming the member when it is absent, empty or no text.
    func text(_ name: String) throws(Fault) -> String {
        let text = try optionalText(name)
        guard !text.isEmpty else { throw missing(name) }
        return text
    }

    /// - Returns: An empty text when it is absent.
    /// - Throws: `invalid_request` naming the member when it is no text.
    func optionalText(_ name: String) throws(Fault) -> String {
        guard let content = try content(name) else { return "" }
        guard case .string(let text) = content else { throw wrong(name, "a string") }
        // The services carry no text with a NUL.
        guard !text.utf8.contains(0) else { throw wrong(name, "a string without NUL") }
        return text
    }

    /// - Returns: False when it is absent.
    /// - Throws: `invalid_request` naming the member when it is neither true nor false.
    func flag(_ name: String) throws(Fault) -> Bool {
        guard let content = try content(name) else { return false }
        guard case .bool(let flag) = content else { throw wrong(name, "true or false") }
        return flag
    }

    /// One of some words, whatever its letter case.
    /// - Throws: `invalid_request` naming the member when it is absent or another word.
    func choice<Value>(_ name: String, _ choices: KeyValuePairs<String, Value>) throws(Fault) -> Value {
        let word = try text(name).lowercased()
        if let match = choices.first(where: { $0.key.lowercased() == word }) { return match.value }
        throw wrong(name, choices.map { "'\($0.key)'" }.joined(separator: " or "))
    }

    /// - Returns: `nil` when it is absent.
    /// - Throws: `invalid_request` naming the member when it is no object.
    func object(_ name: String) throws(Fault) -> AppBody? {
        guard let content = try content(name) else { return nil }
        guard case .object(let members) = content else { throw wrong(name, "an object") }
        return AppBody(members: members, prefix: "\(prefix)\(name).")
    }

    /// - Returns: `nil` for an absent member and for `null`.
    private func content(_ name: String) throws(Fault) -> JsonNode.Content? {
        let found = members.filter { $0.name == name }
        guard found.count < 2 else { throw Fault(.invalidRequest, "Member '\(prefix)\(name)' is present more than once") }
        guard let content = found.first?.value.content else { return nil }
        if case .null = content { return nil }
        return content
    }

    private func missing(_ name: String) -> Fault { Fault(.invalidRequest, "Required '\(prefix)\(name)' is not present") }

    private func wrong(_ name: String, _ wanted: String) -> Fault {
        Fault(.invalidRequest, "Member '\(prefix)\(name)' must be \(wanted)")
    }
}
