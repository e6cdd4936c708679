internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import StrictJson

/// Reads one entry as an administrator sends it.
enum EntityText {
    /// Bytes; a longer text is refused before it is looked at.
    static let longest = 512 * 1024
    /// Characters of a message; what it quotes may be long.
    private static let longestMessage = 300

    /// - Throws: A `Refused` as its cause, with every problem that can be seen without the rest of the catalogue.
    static func read(_ text: String, as section: CatalogueSection) throws(Fault) -> (key: EntityKey, tree: JsonTree) {
        guard text.utf8.count <= longest else { throw Refused.invalid("", "has more than \(longest) bytes").fault }
        let node: JsonNode
        do throws(JsonSyntaxError) {
            node = try JsonDocument(parsing: Array(text.utf8)).root
        } catch {
            throw Refused.invalid("", shortened("is no JSON: \(error)")).fault
        }
        guard case .object = node.content else { throw Refused.invalid("", "must be an object").fault }
        var problems: [FieldProblem] = []
        inspect(node, .root, &problems)
        let tree = JsonTree(node)
        for name in section.identity where tree[name]?.text?.isEmpty != false {
            problems.append(FieldProblem(field: name, message: tree[name] == nil ? "is missing" : "must be a text that is not empty"))
        }
        if !problems.isEmpty { throw Refused.invalid(problems).fault }
        return (EntityKey(section, of: tree), tree)
    }

    /// Members of an entry.
    /// - Parameter field: Where problems are said to be.
    /// - Throws: A `Refused` as its cause.
    static func object(_ text: String, field: String) throws(Fault) -> JsonTree {
        guard text.utf8.count <= longest, let node = try? JsonDocument(parsing: Array(text.utf8)).root, case .object = node.content else {
            throw Refused.invalid(field, "must be a JSON object of at most \(longest) bytes").fault
        }
        var problems: [FieldProblem] = []
        inspect(node, .root, &problems)
        if !problems.isEmpty { throw Refused.invalid(problems).fault }
        return JsonTree(node)
    }

    static func shortened(_ message: String) -> String {
        message.count <= longestMessage ? message : message.prefix(longestMessage) + "…"
    }

    /// What no text of a catalogue may have, wherever it stands: a name twice, a NUL, a private key (dashboard §2). The text itself is not quoted.
    private static func inspect(_ node: JsonNode, _ path: JsonPath, _ problems: inout [FieldProblem]) {
        guard problems.count < JsonProblems.most else { return }
        switch node.content {
        case .string(let text):
            if text.utf8.contains(0) { problems.append(FieldProblem(field: "\(path)", message: "must not hold a NUL")) }
            if text.contains("PRIVATE KEY-----") {
                problems.append(
                    FieldProblem(field: "\(path)", message: "holds a private key; paste the certificate alone, and take that key out of use"))
            }
        case .array(let nodes):
            for (index, node) in nodes.enumerated() { inspect(node, path.appending(index: index), &problems) }
        case .object(let members):
            var seen: Set<OctetText> = []
            for member in members {
                let place = path.appending(key: String(member.name.prefix(100)))
                if !seen.insert(member.name).inserted { problems.append(FieldProblem(field: "\(place)", message: "occurs twice")) }
                inspect(member.value, place, &problems)
            }
        case .null, .bool, .number: break
        }
    }
}
