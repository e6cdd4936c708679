internal import CatalogueFiles

/// What makes one document of another, property by property.
extension CatalogueDocument {
    /// - Returns: In the order of sections and entries; an entry that is only in one of the two is one change. The order of entries is no property.
    func changes(to other: CatalogueDocument) -> [PropertyChange] {
        CatalogueSection.allCases.flatMap { section -> [PropertyChange] in
            let old = entries(section)
            let new = other.entries(section)
            guard old != new else { return [] }
            // Most changes leave the entries as they stand.
            if old.count == new.count, zip(old, new).allSatisfy({ $0.key == $1.key }) {
                return zip(old, new).flatMap { Self.changes($0.key, [], $0.tree, $1.tree) }
            }
            let later = Dictionary(new.map { ($0.key, $0.tree) }) { first, _ in first }
            let earlier = Set(old.map(\.key))
            let kept = old.flatMap { Self.changes($0.key, [], $0.tree, later[$0.key]) }
            return kept + new.filter { !earlier.contains($0.key) }.map { PropertyChange(key: $0.key, path: [], old: nil, new: $0.tree) }
        }
    }

    private static func changes(_ key: EntityKey, _ path: [String], _ old: JsonTree?, _ new: JsonTree?) -> [PropertyChange] {
        guard old != new else { return [] }
        guard case .object(let before) = old, case .object(let after) = new else { return [PropertyChange(key: key, path: path, old: old, new: new)] }
        return Set(before.keys).union(after.keys).sorted().flatMap { changes(key, path + [$0], before[$0], after[$0]) }
    }

    mutating func apply(_ change: PropertyChange) {
        if change.path.isEmpty {
            self[change.key] = change.new
        } else if var tree = self[change.key] {
            tree.set(change.path[...], to: change.new)
            self[change.key] = tree
        }
    }

    mutating func apply(_ changes: some Sequence<PropertyChange>) { for change in changes { apply(change) } }

    /// Brings what was done to an older document onto a newer one (dashboard §4).
    /// - Returns: The newer document's changes that contradict; when there are any, the document is of no use.
    static func rebased(_ mine: [PropertyChange], from base: CatalogueDocument, onto newer: CatalogueDocument) -> (
        CatalogueDocument, [PropertyChange]
    ) {
        let theirs = base.changes(to: newer)
        let conflicts = theirs.filter { theirs in mine.contains { $0.contradicts(theirs) } }
        var document = newer
        document.apply(mine)
        return (document, conflicts)
    }
}
