internal import StrictJson

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
                "schemaName": member.name, "prose": Prose.pieces(member.value["description"]?.text), "hasProperties": !properties.isEmpty,
                "type": type(properties.isEmpty ? member.value : nil), "isPlain": properties.isEmpty,
                "properties": properties.map { property in
                    [
                        "propertyName": property.name, "isRequired": required.contains(property.name), "type": type(property.value),
                        "prose": Prose.pieces(property.value["description"]?.text),
                    ] as [String: Any]
                },
            ]
        }
    }
}

/// Text of the description, in which backticks set off what is code.
enum Prose {
    static func pieces(_ text: String?) -> [[String: Any]] {
        (text ?? "").split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { !$1.isEmpty }.map { index, piece in
            ["piece": String(piece), "isCode": index % 2 == 1]
        }
    }
}
