internal import CatalogueFiles
internal import Contracts
internal import GatewayEdge
internal import StrictJson

/// Entries of a review or a comparison with their differences, as the templates want them: one part to unfold for each entry.
struct ChangeRows {
    /// Differences on a page.
    static let mostRows = 200
    /// Entries up to which all of them are unfolded at once.
    private static let fewEntries = 3
    /// Characters of JSON on a page: a whole entry can be long, and a push can have many.
    private static let room = 40_000
    /// Differences that the line of a folded entry tells.
    private static let told = 2

    let rows: [[String: Any]]

    init(_ changes: [CatalogueChange]) {
        var entries: [(id: EntityReference, changes: [CatalogueChange])] = []
        for change in changes.prefix(Self.mostRows) {
            let id = EntityReference(kind: change.kind, id: change.entityID)
            let isSame = entries.last.map { $0.id.kind == id.kind && OctetText($0.id.id) == OctetText(id.id) } ?? false
            if isSame { entries[entries.count - 1].changes.append(change) } else { entries.append((id, [change])) }
        }
        var room = Self.room
        rows = entries.map { entry in
            var row = Self.row(entry.id, entry.changes, &room)
            row["isUnfolded"] = entries.count <= Self.fewEntries
            return row
        }
    }

    private static func row(_ id: EntityReference, _ changes: [CatalogueChange], _ room: inout Int) -> [String: Any] {
        let whole = changes.first { $0.property.isEmpty }
        var row: [String: Any] = [
            "changeKind": ConsoleCollection.of(id.kind)?.noun ?? id.kind.word, "changeId": id.id,
            "changeOperation": word(whole?.operation ?? .replace),
            "differences": changes.map { difference($0, &room) },
        ]
        let gists = changes.compactMap { ChangeWords($0).gist }
        if let whole {
            row["gist"] = ChangeWords(whole).name
        } else if !gists.isEmpty {
            let rest = changes.count - min(gists.count, told)
            row["gist"] = gists.prefix(told).joined(separator: "; ") + (rest > 0 ? "; \(rest) more" : "")
        } else {
            row["gist"] = changes.map { ChangeWords($0).label }.prefix(told).joined(separator: ", ") + (changes.count > told ? " and more" : "")
        }
        if let collection = ConsoleCollection.of(id.kind) {
            row["changeAddress"] = ["entryAddress": collection.address(of: id.id), "entryNoun": collection.noun]
        }
        return row
    }

    private static func difference(_ change: CatalogueChange, _ room: inout Int) -> [String: Any] {
        let words = ChangeWords(change)
        var row: [String: Any] = [
            "number": "\(change.number)", "changeLabel": words.label, "dropName": "\(change.entityID) \(change.property)",
        ]
        if change.property.isEmpty {
            let json = change.newJson.isEmpty ? change.oldJson : change.newJson
            row["whole"] = ["wholeFacts": ChangeWords.facts(json, of: change.kind), "wholeJson": shown(json, &room)]
        } else if let (old, new) = words.values {
            row["plainly"] = ["oldWords": old, "newWords": new]
        } else {
            row["atLength"] = [
                "oldValue": change.oldJson.isEmpty ? "not set" : shown(change.oldJson, &room),
                "newValue": change.newJson.isEmpty ? "not set" : shown(change.newJson, &room),
            ]
        }
        return row
    }

    /// Members of a requestor that the release before refuses: a copy of `config` of that release does not start on a catalogue with one.
    private static let newMembers = ["privacyUrl", "termsUrl", "supportUrl"]

    /// The members among the changes that only copies of `config` of this release read.
    static func newMembers(in changes: [CatalogueChange]) -> [String] {
        newMembers.filter { member in
            changes.contains { change in
                guard change.kind == .requestor, !change.newJson.isEmpty else { return false }
                return change.property == member || change.property.isEmpty && JsonTree.reading(scalar: change.newJson)[member] != nil
            }
        }
    }

    /// The text for the lines that a page leaves out; `nil`: none.
    static func omitted(_ changes: [CatalogueChange]) -> String? {
        changes.count > mostRows ? "\(changes.count - mostRows) further changes are not shown." : nil
    }

    private static func word(_ operation: ChangeOperation) -> String {
        switch operation {
        case .add: "added"
        case .replace: "changed"
        case .remove: "removed"
        case .unknown, .unrecognized: "unknown"
        }
    }

    /// The longest part of one value that is shown.
    private static let most = 1500

    private static func shown(_ json: String, _ room: inout Int) -> String {
        let text = json.utf8.count > 100_000 ? json : PrettyJson.text(JsonTree.reading(scalar: json))
        let part = text.prefix(min(most, max(0, room)))
        room -= part.count
        return part.count == text.count ? text : part + " …"
    }
}

/// A difference in the words of the entry's form: `Enabled: yes → no`.
struct ChangeWords {
    /// Characters of a value that stands in a line.
    private static let longest = 120
    /// The fields of each kind of entry, by property.
    private static let fields: [EntityKind: [OctetText: FormField]] = Dictionary(
        uniqueKeysWithValues: ConsoleCollection.allCases.map { collection -> (EntityKind, [OctetText: FormField]) in
            let groups = FormGroups.groups(collection) + (collection == .mvpds ? SignInFields.all : [])
            let fields = groups.flatMap(\.fields) + FormGroups.identity(collection)
            return (collection.kind, Dictionary(fields.map { (OctetText($0.name), $0) }, uniquingKeysWith: { first, _ in first }))
        })

    private let change: CatalogueChange
    private let field: FormField?

    init(_ change: CatalogueChange) {
        self.change = change
        field = Self.fields[change.kind]?[OctetText(change.property)]
    }

    /// The field's label; the property where it has none.
    var label: String { change.property.isEmpty ? "Everything" : field?.label ?? change.property }

    /// Both values in words; `nil` where one of them is no plain value, or too long for a line.
    var values: (old: String, new: String)? {
        guard !change.property.isEmpty, let old = text(change.oldJson), let new = text(change.newJson) else { return nil }
        return (old, new)
    }

    /// The name of an entry that is made or removed; `nil`: it has none beside its id.
    var name: String? {
        let tree = JsonTree.reading(change.newJson.isEmpty ? change.oldJson : change.newJson)
        return (tree["displayName"]?.text ?? tree["name"]?.text).flatMap { $0.isEmpty ? nil : String($0.prefix(Self.longest)) }
    }

    /// The difference in a line; `nil` where it takes more.
    var gist: String? { values.map { "\(label): \($0.old) → \($0.new)" } }

    /// The facts of a whole entry, as far as its form has them and they are set.
    static func facts(_ json: String, of kind: EntityKind) -> [[String: String]] {
        guard let collection = ConsoleCollection.of(kind) else { return [] }
        let tree = JsonTree.reading(json)
        let fields = FormGroups.identity(collection) + FormGroups.groups(collection, of: tree).flatMap(\.fields)
        return fields.compactMap { field in
            guard let value = tree.value(at: field.path[...]), let text = text(value, in: field) else { return nil }
            return ["factLabel": field.label, "factValue": text]
        }
    }

    private func text(_ json: String) -> String? {
        guard json.isEmpty else { return json.utf8.count > 4 * Self.longest ? nil : Self.text(JsonTree.reading(scalar: json), in: field) }
        // A property that is not there has its usual value.
        if case .toggle(let usually) = field?.kind { return usually ? "yes" : "no" }
        return "not set"
    }

    private static func text(_ value: JsonTree, in field: FormField?) -> String? {
        let text: String
        switch (value, field?.kind) {
        case (.bool(let flag), _): text = flag ? "yes" : "no"
        case (.number(let digits), .lifetime): text = Int(digits).map { LifetimeText(seconds: $0).text } ?? digits
        case (.number(let digits), _): text = digits
        case (.string(let word), .toggle): text = JsonTree.string(word).canonical
        case (.string(let word), .choice(let choices)): text = choices.first { $0.value == word }?.label ?? word
        case (.string(let word), _): text = word.isEmpty ? "empty" : word
        case (.array(let elements), _):
            let words = elements.compactMap { field.map { $0.isMetadataKeys } == true ? MetadataKeyLine.text($0) : $0.text }
            guard words.count == elements.count else { return nil }
            text = words.isEmpty ? "none" : words.joined(separator: ", ")
        default: return nil
        }
        return text.count <= longest ? text : nil
    }
}

extension FormField {
    fileprivate var isMetadataKeys: Bool { if case .metadataKeys = kind { true } else { false } }
}

extension JsonTree {
    /// - Returns: The text itself for what is no JSON.
    fileprivate static func reading(scalar json: String) -> JsonTree {
        guard let document = try? JsonDocument(parsing: Array(json.utf8)) else { return .string(json) }
        return JsonTree(document.root)
    }
}
