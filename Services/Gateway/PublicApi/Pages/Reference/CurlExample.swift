internal import CatalogueFiles
internal import GatewayEdge
internal import StrictJson
internal import TextEncodings

/// A call of an operation as a person types it: the parameters that it must have, with their examples.
struct CurlExample {
    let description: ApiDescription
    let operation: ApiDescription.Operation
    /// The gateway's own address.
    let origin: String

    var text: String {
        let parameters = description.parameters(of: operation).filter { $0["required"]?.isTrue == true }
        var path = operation.path
        for parameter in parameters where parameter["in"]?.text == "path" {
            path = path.replacing("{\(parameter["name"]?.text ?? "")}", with: PercentEncoding.encode(example(of: parameter)))
        }
        let query = parameters.filter { $0["in"]?.text == "query" }.map { parameter in
            "\(parameter["name"]?.text ?? "")=\(PercentEncoding.encode(example(of: parameter)))"
        }
        let address = path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        // The address for administration is told to nobody but those who have the cluster's file.
        let url = description.isAdministration(operation) ? "\"$ADMIN\(address)\"" : Self.quoted(origin + address)
        var lines = [operation.method == "GET" ? "curl -si \(url)" : "curl -si -X \(operation.method) \(url)"]
        switch description.token(of: operation) {
        case .none: break
        case .access: lines.append(#"-H "Authorization: Bearer $TOKEN""#)
        case .administrator: lines.append(#"-H "Authorization: Bearer $ADMIN_TOKEN""#)
        }
        for parameter in parameters where parameter["in"]?.text == "header" {
            lines.append("-H " + Self.quoted("\(parameter["name"]?.text ?? ""): \(example(of: parameter))"))
        }
        return (lines + body).joined(separator: " \\\n  ")
    }

    private func example(of parameter: JsonNode) -> String {
        if let example = parameter["example"] { return example.plain }
        return parameter["schema"].map { Self.plain(value($0, depth: 0)) } ?? ""
    }

    private var body: [String] {
        guard let request = operation.node["requestBody"].map(description.resolved), let media = request["content"]?.members?.first else { return [] }
        let example = media.value["example"].map { JsonTree($0) } ?? media.value["schema"].map { value($0, depth: 0) } ?? .object([:])
        guard media.name.hasSuffix("urlencoded") else {
            return ["-H " + Self.quoted("Content-Type: \(media.name)"), "-d " + Self.quoted(example.canonical)]
        }
        guard case .object(let fields) = example else { return ["-d " + Self.quoted(Self.plain(example))] }
        return fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { field in
            "--data-urlencode " + Self.quoted("\(field.key)=\(Self.plain(field.value))")
        }
    }

    /// A value that the schema admits: what it gives as an example, or else of what it must have.
    private func value(_ node: JsonNode, depth: Int) -> JsonTree {
        let schema = description.resolved(node)
        let given =
            schema["example"] ?? schema["examples"]?.elements?.first ?? schema["const"] ?? schema["default"] ?? schema["enum"]?.elements?.first
        if let given { return JsonTree(given) }
        guard depth < 4 else { return .null }
        switch schema["type"]?.text {
        case "integer", "number": return .number(schema["minimum"]?.plain ?? "1")
        case "boolean": return .bool(true)
        case "array": return .array(schema["items"].map { [value($0, depth: depth + 1)] } ?? [])
        case "object":
            let required = Set((schema["required"]?.elements ?? []).compactMap(\.text).map { OctetText($0) })
            let members = (schema["properties"]?.members ?? []).filter { required.contains($0.name) }
            return .object(Dictionary(members.map { ($0.name, value($0.value, depth: depth + 1)) }) { first, _ in first })
        default: return .string("...")
        }
    }

    private static func plain(_ tree: JsonTree) -> String { tree.text ?? tree.canonical }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
