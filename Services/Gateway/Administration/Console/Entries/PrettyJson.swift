internal import CatalogueFiles

/// JSON for people: indented, members in the order of their names.
enum PrettyJson {
    static func text(_ tree: JsonTree) -> String {
        var text = ""
        write(tree, depth: 0, into: &text)
        return text
    }

    private static func write(_ tree: JsonTree, depth: Int, into text: inout String) {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch tree {
        case .object(let members) where !members.isEmpty:
            text += "{\n"
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                text += inner + JsonTree.string(member.key).canonical + ": "
                write(member.value, depth: depth + 1, into: &text)
                text += index < sorted.count - 1 ? ",\n" : "\n"
            }
            text += outer + "}"
        case .array(let elements) where !elements.isEmpty:
            text += "[\n"
            for (index, element) in elements.enumerated() {
                text += inner
                write(element, depth: depth + 1, into: &text)
                text += index < elements.count - 1 ? ",\n" : "\n"
            }
            text += outer + "]"
        default: text += tree.canonical
        }
    }
}
