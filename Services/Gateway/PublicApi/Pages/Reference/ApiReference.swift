internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import StrictJson
internal import Synchronization

/// The pages that tell the API, made of its OpenAPI description: one of all groups, one of each group, one of all schemas. They are made when
/// somebody asks for the first of them, for each of the gateway's names.
final class ApiReference: Sendable {
    static let path = "/docs"

    private struct State {
        let contents: [OctetText: [String: Any]]
        var made: [OctetText: ByteBuffer] = [:]
    }

    private let text: String
    /// By origin, of which the settings have a few.
    private let states = Mutex<[OctetText: State]>([:])

    /// - Parameter text: The OpenAPI description.
    init(_ text: String) { self.text = text }

    /// - Parameters:
    ///   - name: `index`, `schemas`, or a group.
    ///   - origin: The gateway's own address, for examples; of the settings.
    ///   - render: Makes a page of what its template shows; once for each.
    /// - Returns: `nil`: there is no such page.
    func page(_ name: String, origin: String, _ render: (_ template: String, _ content: [String: Any]) -> ByteBuffer) -> ByteBuffer? {
        let key = OctetText(name)
        return states.withLock { states in
            var state = states[OctetText(origin)] ?? State(contents: Self.contents(text, origin))
            if let page = state.made[key] { return page }
            guard let content = state.contents[key] else { return nil }
            let page = render(name == "index" || name == "schemas" ? "docs-\(name)" : "docs-group", content)
            state.made[key] = page
            states[OctetText(origin)] = state
            return page
        }
    }

    private static func contents(_ text: String, _ origin: String) -> [OctetText: [String: Any]] {
        guard let description = try? ApiDescription(parsing: text) else { return [:] }
        let groups = description.groups.map { group in (group, description.operations.filter { sameOctets($0.group, group.name) }) }
        let operations = OperationContent(description: description, origin: origin)
        func side(_ here: String?) -> [[String: Any]] {
            groups.map { group, own in
                let isHere = here.map { sameOctets($0, group.slug) } ?? false
                return [
                    "sideName": group.name, "sideAddress": "\(path)/\(group.slug)", "isHere": isHere,
                    "sideRows": isHere ? own.map { operations.row($0, in: group) } : [],
                ]
            }
        }
        var pages: [OctetText: [String: Any]] = [:]
        pages["index"] = [
            "title": "The API", "side": side(nil), "isIndex": true, "prose": DescriptionText.pieces(description.root["info"]?["description"]?.text),
            "origin": origin,
            "groups": groups.map { group, own in
                [
                    "groupName": group.name, "groupAddress": "\(path)/\(group.slug)", "prose": DescriptionText.pieces(group.description),
                    "operations": own.map { operations.row($0, in: group) },
                ] as [String: Any]
            },
        ]
        pages["schemas"] = ["title": "Schemas", "side": side(nil), "isSchemas": true, "schemas": SchemaContent(description: description).all]
        for (group, own) in groups {
            pages[OctetText(group.slug)] = [
                "title": group.name, "side": side(group.slug), "prose": DescriptionText.pieces(group.description),
                "rows": own.map { operations.row($0, in: group) },
                "operations": own.map(operations.whole),
            ]
        }
        return pages
    }
}

/// The API as pages for people.
struct ReferencePages: Sendable {
    private let pages: Pages
    private let reference: ApiReference

    init(_ pages: Pages) {
        self.pages = pages
        reference = ApiReference(String(buffer: pages.description.content))
    }

    @Sendable func index(_ exchange: Exchange) async throws -> Response { page("index", exchange) }

    /// A group of operations, or all schemas.
    @Sendable func group(_ exchange: Exchange) async throws -> Response {
        let name = try exchange.captured("group")
        return name == "index" ? notFound(exchange) : page(name, exchange)
    }

    private func page(_ name: String, _ exchange: Exchange) -> Response {
        reference.page(name, origin: exchange.facts.host.origin) { pages.html($0, $1, pages.english) }.map(pages.standing) ?? notFound(exchange)
    }

    private func notFound(_ exchange: Exchange) -> Response {
        pages.message(.notFound, trace: exchange.facts.trace.traceID, for: pages.reader(exchange))
    }
}

/// Operations as the templates want them.
struct OperationContent {
    let description: ApiDescription
    let origin: String

    private var schemas: SchemaContent { SchemaContent(description: description) }

    /// A line of a list.
    func row(_ operation: ApiDescription.Operation, in group: ApiDescription.Group) -> [String: Any] {
        [
            "method": operation.method, "path": operation.path, "prose": DescriptionText.pieces(operation.node["summary"]?.text),
            "operationAddress": "\(ApiReference.path)/\(group.slug)#\(operation.id)", "anchor": "#\(operation.id)",
        ]
    }

    func whole(_ operation: ApiDescription.Operation) -> [String: Any] {
        let parameters = description.parameters(of: operation)
        let body = operation.node["requestBody"].map(description.resolved)
        var content: [String: Any] = [
            "operationId": operation.id, "method": operation.method, "path": operation.path,
            "prose": DescriptionText.pieces(operation.node["summary"]?.text),
            "token": token(operation), "hasParameters": !parameters.isEmpty, "parameters": parameters.map(parameter), "hasBody": body != nil,
            "bodies": (body?["content"]?.members ?? []).map { media in
                ["mediaType": media.name, "type": schemas.type(media.value["schema"]), "fields": fields(media.value["schema"])] as [String: Any]
            },
            "answers": (operation.node["responses"]?.members ?? []).map { answer($0.name, description.resolved($0.value)) },
            "curl": CurlExample(description: description, operation: operation, origin: origin).text, "isRead": operation.method == "GET",
            "isServedToHead": operation.isServedToHead, "example": AnswerExample(description: description, operation: operation).content,
        ]
        if let details = operation.node["description"]?.text { content["details"] = ["prose": DescriptionText.pieces(details)] }
        return content
    }

    private func token(_ operation: ApiDescription.Operation) -> String {
        switch description.token(of: operation) {
        case .none: "None."
        case .access: "An access token of an app."
        case .administrator: "An administrator's."
        }
    }

    private func parameter(_ node: JsonNode) -> [String: Any] {
        [
            "name": node["name"]?.text ?? "", "place": node["in"]?.text ?? "", "isRequired": node["required"]?.isTrue == true,
            "type": schemas.type(node["schema"]), "prose": DescriptionText.pieces(node["description"]?.text),
        ]
    }

    /// Members of a body that is described in its place.
    private func fields(_ schema: JsonNode?) -> [[String: Any]] {
        guard let schema, ApiDescription.schemaName(schema) == nil else { return [] }
        let required = (schema["required"]?.elements ?? []).compactMap(\.text)
        return (schema["properties"]?.members ?? []).map { property in
            [
                "name": property.name, "isRequired": required.contains(property.name), "type": schemas.type(property.value),
                "prose": DescriptionText.pieces(property.value["description"]?.text),
            ]
        }
    }

    private func answer(_ status: String, _ node: JsonNode) -> [String: Any] {
        let media = node["content"]?.members?.first
        return [
            "status": status, "prose": DescriptionText.pieces(node["description"]?.text), "hasSchema": media != nil,
            "type": schemas.type(media?.value["schema"]),
        ]
    }
}

/// Schemas as the templates want them.
struct SchemaContent {
    let description: ApiDescription

    /// The type in a few words, and the shared schema that it leads to.
    func type(_ node: JsonNode?) -> [String: Any] {
        guard let node else { return ["typeWords": "–"] }
        if let name = ApiDescription.schemaName(node) { return ["typeWords": "", "typeSchema": link(name)] }
        if node["type"]?.text == "array", let items = node["items"] {
            if let name = ApiDescription.schemaName(items) { return ["typeWords": "list of ", "typeSchema": link(name)] }
            return ["typeWords": "list of " + words(items)]
        }
        return ["typeWords": words(node)]
    }

    private func link(_ name: String) -> [String: Any] { ["schemaName": name, "schemaAddress": "\(ApiReference.path)/schemas#\(name)"] }

    private func words(_ node: JsonNode) -> String {
        if let name = ApiDescription.schemaName(node) { return name }
        for word in ["anyOf", "oneOf"] {
            if let choices = node[word]?.elements { return choices.map(words).joined(separator: " or ") }
        }
        if let value = node["const"] { return value.json }
        if let values = node["enum"]?.elements { return "one of " + values.map(\.plain).joined(separator: ", ") }
        let kinds = node["type"].map { $0.text ?? ($0.elements ?? []).map(\.plain).joined(separator: " or ") }
        var words = kinds ?? "any"
        if let format = node["format"]?.text { words += " (\(format))" }
        switch (node["minimum"]?.plain, node["maximum"]?.plain) {
        case (let least?, let most?): words += ", \(least) to \(most)"
        case (let least?, nil): words += ", \(least) or more"
        case (nil, let most?): words += ", at most \(most)"
        case (nil, nil): break
        }
        if let most = node["maxLength"]?.plain { words += ", at most \(most) characters" }
        if let pattern = node["pattern"]?.text { words += ", \(pattern)" }
        return words
    }

    /// All shared schemas, in the order of their names.
    var all: [[String: Any]] {
        let schemas = description.root["components"]?["schemas"]?.members ?? []
        return schemas.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map { member in
            let properties = member.value["properties"]?.members ?? []
            let required = (member.value["required"]?.elements ?? []).compactMap(\.text)
            return [
                "schemaName": member.name, "prose": DescriptionText.pieces(member.value["description"]?.text), "hasProperties": !properties.isEmpty,
                "type": type(properties.isEmpty ? member.value : nil), "isPlain": properties.isEmpty,
                "properties": properties.map { property in
                    [
                        "propertyName": property.name, "isRequired": required.contains(property.name), "type": type(property.value),
                        "prose": DescriptionText.pieces(property.value["description"]?.text),
                    ] as [String: Any]
                },
            ]
        }
    }
}

/// Text of the description, in which backticks set off what is code.
enum DescriptionText {
    static func pieces(_ text: String?) -> [[String: Any]] {
        (text ?? "").split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { !$1.isEmpty }.map { index, piece in
            ["piece": String(piece), "isCode": index % 2 == 1]
        }
    }
}
