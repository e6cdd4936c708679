internal import StrictJson

/// Operations as the templates want them.
struct OperationContent {
    let description: ApiDescription
    let origin: String

    private var schemas: SchemaContent { SchemaContent(description: description) }

    /// A line of a list.
    func row(_ operation: ApiDescription.Operation, in group: ApiDescription.Group) -> [String: Any] {
        [
            "method": operation.method, "path": operation.path, "prose": Prose.pieces(operation.node["summary"]?.text),
            "operationAddress": "\(ApiReference.path)/\(group.slug)#\(operation.id)", "anchor": "#\(operation.id)",
        ]
    }

    func whole(_ operation: ApiDescription.Operation) -> [String: Any] {
        let parameters = description.parameters(of: operation)
        let body = operation.node["requestBody"].map(description.resolved)
        var content: [String: Any] = [
            "operationId": operation.id, "method": operation.method, "path": operation.path, "prose": Prose.pieces(operation.node["summary"]?.text),
            "token": token(operation), "hasParameters": !parameters.isEmpty, "parameters": parameters.map(parameter), "hasBody": body != nil,
            "bodies": (body?["content"]?.members ?? []).map { media in
                ["mediaType": media.name, "type": schemas.type(media.value["schema"]), "fields": fields(media.value["schema"])] as [String: Any]
            },
            "answers": (operation.node["responses"]?.members ?? []).map { answer($0.name, description.resolved($0.value)) },
            "curl": CurlExample(description: description, operation: operation, origin: origin).text, "isRead": operation.method == "GET",
            "isServedToHead": operation.isServedToHead,
        ]
        if let details = operation.node["description"]?.text { content["details"] = ["prose": Prose.pieces(details)] }
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
            "type": schemas.type(node["schema"]), "prose": Prose.pieces(node["description"]?.text),
        ]
    }

    /// Members of a body that is described in its place.
    private func fields(_ schema: JsonNode?) -> [[String: Any]] {
        guard let schema, ApiDescription.schemaName(schema) == nil else { return [] }
        let required = (schema["required"]?.elements ?? []).compactMap(\.text)
        return (schema["properties"]?.members ?? []).map { property in
            [
                "name": property.name, "isRequired": required.contains(property.name), "type": schemas.type(property.value),
                "prose": Prose.pieces(property.value["description"]?.text),
            ]
        }
    }

    private func answer(_ status: String, _ node: JsonNode) -> [String: Any] {
        let media = node["content"]?.members?.first
        return [
            "status": status, "prose": Prose.pieces(node["description"]?.text), "hasSchema": media != nil,
            "type": schemas.type(media?.value["schema"]),
        ]
    }
}
