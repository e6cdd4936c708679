internal import StrictJson

/// The OpenAPI description of the gateway, as far as its pages tell it: in the order of the text.
struct ApiDescription: Sendable {
    struct Operation: Sendable {
        let id: String
        let method: String
        let path: String
        let group: String
        let node: JsonNode
        /// The part for all methods of the path.
        let item: JsonNode
        /// The address answers HEAD as it answers GET, without content; where GET acts, it refuses it.
        let isServedToHead: Bool
    }

    struct Group: Sendable {
        let name: String
        let description: String

        /// As a part of a path.
        var slug: String {
            let words = name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
            return words.joined(separator: "-")
        }
    }

    /// Each address answers OPTIONS: the pages say so once. HEAD stands beside its GET.
    private static let methods = ["get", "post", "put", "patch", "delete"]

    let root: JsonNode
    let operations: [Operation]
    let groups: [Group]

    /// - Throws: The error of a text that is no JSON.
    init(parsing text: String) throws(JsonSyntaxError) {
        let root = try JsonDocument(parsing: Array(text.utf8)).root
        self.root = root
        groups = (root["tags"]?.elements ?? []).map { Group(name: $0["name"]?.text ?? "", description: $0["description"]?.text ?? "") }
        operations = (root["paths"]?.members ?? []).flatMap { path in
            Self.methods.compactMap { method in
                guard let node = path.value[method] else { return nil }
                return Operation(
                    id: node["operationId"]?.text ?? "", method: method.uppercased(), path: path.name,
                    group: node["tags"]?.elements?.first?.text ?? "",
                    node: node, item: path.value, isServedToHead: method == "get" && path.value["head"] != nil)
            }
        }
    }

    /// Where the node only refers to another, that one.
    func resolved(_ node: JsonNode) -> JsonNode {
        guard let reference = node["$ref"]?.text, reference.hasPrefix("#/") else { return node }
        var found: JsonNode? = root
        for part in reference.dropFirst(2).split(separator: "/") { found = found?[String(part)] }
        return found ?? node
    }

    func parameters(of operation: Operation) -> [JsonNode] {
        ((operation.item["parameters"]?.elements ?? []) + (operation.node["parameters"]?.elements ?? [])).map(resolved)
    }

    /// The name of the shared schema that a node refers to.
    static func schemaName(_ node: JsonNode) -> String? {
        let prefix = "#/components/schemas/"
        guard let reference = node["$ref"]?.text, reference.hasPrefix(prefix) else { return nil }
        return String(reference.dropFirst(prefix.utf8.count))
    }

    /// The operation whose answer this one gives too, at another address: the extension `x-alias-of`.
    func original(of operation: Operation) -> Operation? {
        operation.node["x-alias-of"]?.text.flatMap { id in operations.first { sameOctets($0.id, id) } }
    }

    func address(of operation: Operation) -> String {
        let group = groups.first { sameOctets($0.name, operation.group) }
        return "\(ApiReference.path)/\(group?.slug ?? "")#\(operation.id)"
    }

    /// The token that an operation takes.
    enum Token: Equatable {
        case none
        /// An app's.
        case access
        case administrator
    }

    func token(of operation: Operation) -> Token {
        let demanded = (operation.node["security"] ?? root["security"])?.elements ?? []
        let schemes = demanded.flatMap { $0.members ?? [] }.map(\.name)
        if schemes.contains("adminToken") { return .administrator }
        return schemes.contains("bearer") ? .access : .none
    }

    func isAdministration(_ operation: Operation) -> Bool { operation.item["servers"] != nil }
}

extension JsonNode {
    var members: [JsonMember]? { if case .object(let members) = content { members } else { nil } }

    var elements: [JsonNode]? { if case .array(let elements) = content { elements } else { nil } }

    var text: String? { if case .string(let text) = content { text } else { nil } }

    var isTrue: Bool { if case .bool(true) = content { true } else { false } }

    subscript(name: String) -> JsonNode? { members?.first { sameOctets($0.name, name) }?.value }

    /// As it is written in JSON, in one line; a text without its quotation marks.
    var plain: String { text ?? json }

    var json: String {
        switch content {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[" + elements.map(\.json).joined(separator: ", ") + "]"
        case .object(let members): "{" + members.map { "\(Self.quoted($0.name)): \($0.value.json)" }.joined(separator: ", ") + "}"
        }
    }

    /// A text as JSON (RFC 8259 §7).
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text.unicodeScalars {
            switch character {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..."\u{1F}":
                let digits = String(character.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(character)
            }
        }
        return quoted + "\""
    }
}
