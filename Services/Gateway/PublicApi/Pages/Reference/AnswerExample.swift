internal import StrictJson

/// What an operation answers when all is well, as its page shows it. The description has the content, where there is any to show:
/// `Tests/Cluster/OpenApi/record` writes it.
struct AnswerExample {
    let description: ApiDescription
    let operation: ApiDescription.Operation

    /// The status is the first good one that has an example, or else the first one; the description lists good ones first.
    var content: [String: Any] {
        let answers = (operation.node["responses"]?.members ?? []).map { (status: $0.name, node: description.resolved($0.value)) }
        if let original = description.original(of: operation) {
            return [
                "exampleStatus": answers.first?.status ?? "",
                "exampleOriginal": [
                    "originalMethod": original.method, "originalPath": original.path, "originalAddress": description.address(of: original),
                ],
            ]
        }
        for answer in answers where "23".contains(answer.status.prefix(1)) {
            for media in answer.node["content"]?.members ?? [] {
                guard let example = media.value["example"] else { continue }
                return [
                    "exampleStatus": answer.status, "exampleMedia": media.name, "exampleBody": ["exampleText": example.text ?? example.indented()],
                ]
            }
        }
        let media = answers.first?.node["content"]?.members?.first?.name
        return [
            "exampleStatus": answers.first?.status ?? "", "exampleMedia": media ?? "", "isEmpty": media == nil,
            "isPage": media == "text/html", "isFile": media != nil && media != "text/html",
        ]
    }
}

extension JsonNode {
    /// The longest object or list that stays in one line, in characters.
    private static let lineWidth = 72

    /// As JSON for people: what is short in one line, the rest with a member a line, two blanks deeper each time.
    func indented(_ depth: Int = 0) -> String {
        let line = json
        if line.count <= Self.lineWidth { return line }
        let (inner, outer) = (String(repeating: "  ", count: depth + 1), String(repeating: "  ", count: depth))
        switch content {
        case .object(let members):
            let lines = members.map { "\(inner)\(Self.quoted($0.name)): \($0.value.indented(depth + 1))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        case .array(let elements):
            return "[\n" + elements.map { inner + $0.indented(depth + 1) }.joined(separator: ",\n") + "\n\(outer)]"
        default: return line
        }
    }
}
