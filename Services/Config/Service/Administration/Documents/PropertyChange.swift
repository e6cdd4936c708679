internal import CatalogueFiles
internal import Contracts

/// What differs between two documents at one place.
struct PropertyChange: Hashable, Sendable {
    let key: EntityKey
    /// Names of members; empty for the entry as a whole.
    let path: [String]
    /// `nil`: it was not there.
    let old: JsonTree?
    /// `nil`: it is not there any more.
    let new: JsonTree?

    var reversed: PropertyChange { PropertyChange(key: key, path: path, old: new, new: old) }

    /// True when both make a value of one place, or one makes a part of what the other makes, and they do not agree.
    func contradicts(_ other: PropertyChange) -> Bool {
        guard key == other.key, path.starts(with: other.path) || other.path.starts(with: path) else { return false }
        return path != other.path || new != other.new
    }

    /// As a line of a review; what may be a secret is masked.
    func line(_ number: Int) -> CatalogueChange {
        let operation: ChangeOperation = old == nil ? .add : new == nil ? .remove : .replace
        return CatalogueChange(
            number: UInt32(number), kind: key.section.kind, entityID: key.id, property: path.joined(separator: "."), operation: operation,
            oldJson: old?.masked(at: path).canonical ?? "", newJson: new?.masked(at: path).canonical ?? "")
    }
}

extension [PropertyChange] {
    var lines: [CatalogueChange] { enumerated().map { $1.line($0 + 1) } }
}

extension JsonTree {
    /// Members whose values are not shown in comparisons (dashboard §4, #21).
    private static let hidden: Set<String> = [
        "clientSecretReference", "signInKeyReference", "purchaseKeyReference", "statementReference", "passwordReference",
    ]

    fileprivate func masked(at path: [String]) -> JsonTree {
        if let name = path.last, Self.hidden.contains(name) { return .string("[hidden]") }
        switch self {
        case .object(let members): return .object(Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.masked(at: [$0.key])) }))
        case .array(let elements): return .array(elements.map { $0.masked(at: []) })
        case .null, .bool, .number, .string: return self
        }
    }
}
