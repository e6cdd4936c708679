internal import CatalogueFiles
internal import Contracts
internal import StrictJson

/// Lines of a review or a comparison, as the templates want them.
struct ChangeRows {
    /// The longest part of one value that is shown; a whole entry can be long.
    private static let most = 1500
    /// Lines on a page.
    static let mostRows = 50

    let rows: [[String: Any]]

    init(_ changes: [CatalogueChange]) {
        rows = changes.prefix(Self.mostRows).map { change in
            var row: [String: Any] = [
                "number": "\(change.number)", "changeKind": change.kind.word, "changeId": change.entityID,
                "changeProperty": change.property.isEmpty ? "everything" : change.property, "changeOperation": Self.word(change.operation),
                // An entry that is made or removed has no other side; a property has, where it is inherited or left at its usual value.
                "hasOld": !change.oldJson.isEmpty || !change.property.isEmpty, "hasNew": !change.newJson.isEmpty || !change.property.isEmpty,
                "oldValue": change.oldJson.isEmpty ? "not set" : Self.text(change.oldJson),
                "newValue": change.newJson.isEmpty ? "not set" : Self.text(change.newJson),
            ]
            if let collection = ConsoleCollection.of(change.kind) { row["changeAddress"] = collection.address(of: change.entityID) }
            return row
        }
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

    private static func text(_ json: String) -> String {
        guard !json.isEmpty else { return "" }
        let text = json.utf8.count > 100_000 ? json : PrettyJson.text(JsonTree.reading(scalar: json))
        return text.count <= most ? text : text.prefix(most) + " …"
    }
}

extension JsonTree {
    /// - Returns: The text itself for what is no JSON.
    fileprivate static func reading(scalar json: String) -> JsonTree {
        guard let document = try? JsonDocument(parsing: Array(json.utf8)) else { return .string(json) }
        return JsonTree(document.root)
    }
}
