internal import CatalogueFiles
internal import Contracts
internal import GatewayEdge

/// The values of a form for one entry: what the entry has, or what somebody typed in its place.
struct EntryForm {
    let groups: [FormGroup]
    /// By parameter; what is absent is empty.
    private(set) var values: [OctetText: String] = [:]
    /// By field.
    var problems: [OctetText: [String]] = [:]
    /// Those of no field.
    var otherProblems: [String] = []

    private var fields: [FormField] { groups.flatMap(\.fields) }

    /// Shows an entry.
    init(_ groups: [FormGroup], of tree: JsonTree) {
        self.groups = groups
        for field in fields { show(tree.value(at: field.path[...]), in: field) }
    }

    /// Shows what was typed.
    init(_ groups: [FormGroup], typed exchange: Exchange) throws {
        self.groups = groups
        for (name, value) in try exchange.allParameters() { values[OctetText(name)] = value }
        for field in fields where field.hasSeveralInputs {
            values[OctetText(field.name)] = TypedIds.list(try exchange.all(field.name)).joined(separator: "\n")
        }
    }

    /// Fills in what a link says; nothing where it says nothing.
    mutating func preset(_ name: String, _ value: String) { if !value.isEmpty { values[OctetText(name)] = value } }

    subscript(name: String) -> String { values[OctetText(name)] ?? "" }

    /// The entry with what was typed in it; what has no field stays as it is.
    mutating func applied(to tree: JsonTree) -> JsonTree {
        var tree = tree
        for field in fields {
            do {
                try apply(field, to: &tree)
            } catch {
                problems[OctetText(field.name), default: []].append(error.text)
            }
        }
        // An administrator who empties all of its fields wants no test user.
        if case .object(let members) = tree["testSignIn"], members.values.allSatisfy({ $0 == .array([]) }) { tree.set(["testSignIn"], to: nil) }
        return tree
    }

    /// Puts problems where their fields are.
    mutating func tell(_ told: [FieldProblem]) {
        for problem in told {
            let place = problem.field.utf8
            let field = fields.first { field in
                let name = field.name.utf8
                return place.starts(with: name) && (place.count == name.count || ".[".utf8.contains(place.dropFirst(name.count).first ?? 0))
            }
            if let field {
                problems[OctetText(field.name), default: []].append(problem.message)
            } else {
                otherProblems.append(problem.field.isEmpty ? problem.message : "\(problem.field): \(problem.message)")
            }
        }
    }

    private struct Rejection: Error { let text: String }

    private mutating func show(_ value: JsonTree?, in field: FormField) {
        guard let value else {
            if case .toggle(true) = field.kind { values[OctetText(field.name)] = "on" }
            return
        }
        let key = OctetText(field.name)
        switch (field.kind, value) {
        case (.toggle, .bool(let flag)): values[key] = flag ? "on" : ""
        case (.lifetime, .number(let text)): showLifetime(Int(text) ?? 0, field)
        case (.lines, _), (.ids, _): values[key] = value.elements.map { $0.text ?? $0["name"]?.text ?? $0.canonical }.joined(separator: "\n")
        case (.metadataKeys, _): values[key] = value.elements.map(MetadataKeyLine.text).joined(separator: "\n")
        case (_, .string(let text)), (_, .number(let text)): values[key] = text
        default: values[key] = value.canonical
        }
    }

    private mutating func showLifetime(_ seconds: Int, _ field: FormField) {
        var rest = seconds
        for part in FormField.lifetimeParts {
            let count = rest / part.seconds
            rest -= count * part.seconds
            values[OctetText("\(field.name).\(part.suffix)")] = count == 0 ? "" : "\(count)"
        }
    }

    private func apply(_ field: FormField, to tree: inout JsonTree) throws(Rejection) {
        let typed = self[field.name].trimmed
        let old = tree.value(at: field.path[...])
        let new: JsonTree?
        switch field.kind {
        case .text, .id, .choice: new = typed.isEmpty ? nil : .string(typed)
        case .number: new = typed.isEmpty ? nil : .number(try Self.number(typed))
        case .toggle(let usually):
            let isOn = !typed.isEmpty
            new = old == nil && isOn == usually ? nil : .bool(isOn)
        case .lifetime: new = try lifetime(field)
        case .lines, .ids:
            let known = Dictionary((old?.elements ?? []).map { (OctetText($0.text ?? $0["name"]?.text ?? $0.canonical), $0) }) { first, _ in first }
            let lines = typed.lines.map { known[OctetText($0)] ?? .string($0) }
            new = lines.isEmpty && old == nil ? nil : .array(lines)
        case .metadataKeys:
            let lines = typed.lines.map(MetadataKeyLine.tree)
            new = lines.isEmpty && old == nil ? nil : .array(lines)
        }
        if new != old { tree.set(field.path[...], to: new) }
    }

    private func lifetime(_ field: FormField) throws(Rejection) -> JsonTree? {
        var sum = 0
        var isGiven = false
        for part in FormField.lifetimeParts {
            let typed = self["\(field.name).\(part.suffix)"].trimmed
            guard !typed.isEmpty else { continue }
            isGiven = true
            guard let count = Int(try Self.number(typed)), count <= 1_000_000 else {
                throw Rejection(text: "must be whole numbers of \(part.label), not more than a million")
            }
            sum += count * part.seconds
        }
        return isGiven ? .number("\(sum)") : nil
    }

    private static func number(_ typed: String) throws(Rejection) -> String {
        guard let number = UInt64(typed), typed.utf8.count <= 18 else { throw Rejection(text: "must be a whole number") }
        return "\(number)"
    }
}

/// A key of an integration's user metadata as one line.
enum MetadataKeyLine {
    static func text(_ tree: JsonTree) -> String {
        tree.text ?? (tree["key"]?.text ?? "") + (tree["encrypted"] == .bool(true) ? " encrypted" : "")
    }

    static func tree(_ line: String) -> JsonTree {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2, words[1] == "encrypted" else { return .string(line) }
        return .object(["key": .string(words[0]), "encrypted": .bool(true)])
    }
}

extension String {
    /// Without white space at its ends.
    var trimmed: String { String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()) }

    /// Without those that hold nothing.
    fileprivate var lines: [String] { split(whereSeparator: \.isNewline).map { String($0).trimmed }.filter { !$0.isEmpty } }
}

/// One property of an entry that a form shows.
struct FormField: Sendable {
    enum Kind: Sendable {
        case text
        /// The id of an entry, with a list of them to choose from.
        case id(of: ConsoleCollection)
        /// Ids in an order, each in an input of its own with that list.
        case ids(of: ConsoleCollection)
        /// A text in each line.
        case lines
        case toggle(usually: Bool)
        /// Seconds, as days, hours, minutes and seconds; none: inherited.
        case lifetime
        case number
        case choice([(value: String, label: String)])
        /// `userID`, or `zip encrypted`, in each line.
        case metadataKeys
    }

    /// Names of members, with a dot between; also the parameter's name and the beginning of the places that problems name.
    let name: String
    let label: String
    let hint: String
    let kind: Kind

    init(_ name: String, _ label: String, _ kind: Kind, hint: String = "") {
        self.name = name
        self.label = label
        self.kind = kind
        self.hint = hint
    }

    var path: [String] { name.split(separator: ".").map(String.init) }

    /// True where a form sends several parameters of its name.
    var hasSeveralInputs: Bool { if case .ids = kind { true } else { false } }

    /// The entries whose ids may be chosen; `nil`: it holds no id.
    var ids: ConsoleCollection? {
        switch kind {
        case .id(let collection), .ids(let collection): collection
        default: nil
        }
    }

    /// Parameters that the form has for it.
    static let lifetimeParts: [(suffix: String, label: String, seconds: Int)] = [
        ("d", "days", 86_400), ("h", "hours", 3600), ("m", "minutes", 60), ("s", "seconds", 1),
    ]
}

/// Fields that belong together.
struct FormGroup: Sendable {
    let title: String
    let fields: [FormField]
}
