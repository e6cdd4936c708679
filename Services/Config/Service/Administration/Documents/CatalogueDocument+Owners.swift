internal import CatalogueFiles
internal import Contracts

/// The programmer to whom an entry belongs.
extension CatalogueDocument {
    enum Owner: Hashable, Sendable {
        case programmer(String)
        /// MVPD records: read by everyone.
        case everyone
        /// The part that only operators see.
        case operators
    }

    func owner(of key: EntityKey) -> Owner {
        switch key.section {
        case .programmers: .programmer(key.id)
        case .requestors, .applications: .programmer(self[key]?["programmer"]?.text ?? "")
        case .integrations: owner(of: EntityKey(.requestors, key.requestor))
        case .mvpds: .everyone
        case .platformIdentityIssuers, .serviceTokenIssuers, .upstreams: .operators
        }
    }

    /// The entries that name this one.
    func references(to key: EntityKey) -> [EntityKey] {
        CatalogueSection.allCases.flatMap { section in
            entries(section).filter { $0.key != key && Self.refers($0, to: key) }.map(\.key)
        }
    }

    private static func refers(_ entry: Entry, to key: EntityKey) -> Bool {
        switch (key.section, entry.key.section) {
        case (.programmers, .requestors), (.programmers, .applications): entry.tree["programmer"]?.text == key.id
        case (.programmers, .serviceTokenIssuers): entry.tree["programmers"]?.texts.contains(key.id) == true
        case (.requestors, .integrations): entry.key.requestor == key.id
        case (.requestors, .applications): entry.tree["requestors"]?.texts.contains(key.id) == true
        case (.requestors, .upstreams): entry.tree["clients"]?.elements.contains { $0["requestors"]?.texts.contains(key.id) == true } == true
        case (.upstreams, .requestors): entry.tree["upstream"]?["upstream"]?.text == key.id
        case (.mvpds, .integrations): entry.key.mvpd == key.id
        case (.requestors, .mvpds): entry.tree["testSignIn"]?["requestor"]?.text == key.id
        case (.mvpds, .mvpds): entry.tree["proxy"]?["mvpd"]?.text == key.id
        default: false
        }
    }

    /// A document with an integration and what it stands on alone: what it names, and what that names in its turn.
    func around(integration key: EntityKey) -> CatalogueDocument {
        var needed: Set<EntityKey> = []
        var waiting = [key]
        while let next = waiting.popLast() {
            if needed.insert(next).inserted { waiting += named(by: next) }
        }
        return filtered { needed.contains($0) }
    }

    /// The entries that this one names, and the integration that its test user tries: `refers` from the other end.
    private func named(by key: EntityKey) -> [EntityKey] {
        func keys(_ section: CatalogueSection, _ ids: [String?]) -> [EntityKey] { ids.compactMap { $0 }.map { EntityKey(section, $0) } }
        let tree = self[key]
        switch key.section {
        case .integrations: return keys(.requestors, [key.requestor]) + keys(.mvpds, [key.mvpd])
        case .requestors: return keys(.programmers, [tree?["programmer"]?.text]) + keys(.upstreams, [tree?["upstream"]?["upstream"]?.text])
        case .upstreams: return keys(.requestors, (tree?["clients"]?.elements ?? []).flatMap { $0["requestors"]?.texts ?? [] })
        case .mvpds:
            let tested = testedIntegration(key)
            let requestors = (tree?["proxy"]?["requestors"]?.texts ?? []) + (tested.map { [$0.requestor] } ?? [])
            return keys(.mvpds, [tree?["proxy"]?["mvpd"]?.text]) + keys(.requestors, requestors) + (tested.map { [$0] } ?? [])
        case .programmers, .applications, .platformIdentityIssuers, .serviceTokenIssuers: return []
        }
    }

    /// The part of the document that is enough to judge a change of an entry, where all else is good. Integrations refer to a requestor and an MVPD,
    /// and nothing refers to them. A catalogue has tens of thousands of them.
    func concerned(by key: EntityKey) -> CatalogueDocument {
        let tested = Set(entries(.mvpds).compactMap { testedIntegration($0.key) })
        switch key.section {
        case .integrations: return around(integration: key)
        case .requestors: return filtered { $0.section != .integrations || $0.requestor == key.id || tested.contains($0) }
        case .mvpds:
            // The MVPD's proxy may sign its people in.
            let behind = entries(.mvpds).filter { $0.tree["proxy"]?["mvpd"]?.text == key.id }
            let mvpds = Set(([key] + behind.map(\.key)).map { OctetText($0.id) })
            return filtered { $0.section != .integrations || mvpds.contains(OctetText($0.mvpd)) || tested.contains($0) }
        case .upstreams: return self
        case .programmers, .applications, .platformIdentityIssuers, .serviceTokenIssuers:
            return filtered { $0.section != .integrations || tested.contains($0) }
        }
    }

    /// Returns where the test user of an MVPD signs in.
    private func testedIntegration(_ mvpd: EntityKey) -> EntityKey? {
        self[mvpd]?["testSignIn"]?["requestor"]?.text.map { EntityKey(.integrations, "\($0)/\(mvpd.id)") }
    }
}

/// OAuth providers send browsers back here (`oauth.callback` of an MVPD). An entry that does not say it keeps what it has; a new one has an address
/// of its own.
extension CatalogueDocument {
    private static let callback = ["oauth", "callback"]

    /// The same, in which each OAuth record that does not say its callback has that of another document, if it is there.
    func keepingCallbacks(of former: CatalogueDocument) -> CatalogueDocument {
        var document = self
        for entry in entries(.mvpds) where entry.hasUnsaidCallback {
            guard let known = former[entry.key]?["oauth"]?["callback"] else { continue }
            document[entry.key] = entry.tree.with(Self.callback, known)
        }
        return document
    }

    /// Ids of OAuth records that do not say their callback.
    var unsaidCallbacks: [String] { entries(.mvpds).filter(\.hasUnsaidCallback).map(\.key.id) }

    /// Ids of those that share one.
    var sharers: Set<OctetText> { Set(texts: entries(.mvpds).filter { $0.tree["oauth"]?["callback"] == .string("shared") }.map(\.key.id)) }

    /// The same document. OAuth records that do not say their callback share one, or name their own where another document has named one.
    func sayingCallbacks(sharers: Set<OctetText>, over former: CatalogueDocument) -> CatalogueDocument {
        var document = self
        for entry in entries(.mvpds) where entry.hasUnsaidCallback {
            if sharers.contains(OctetText(entry.key.id)) {
                document[entry.key] = entry.tree.with(Self.callback, .string("shared"))
            } else if former[entry.key]?["oauth"]?["callback"] != nil {
                document[entry.key] = entry.tree.with(Self.callback, .string("own"))
            }
        }
        return document
    }

    /// The same, in which OAuth records that do not say their callback share one, as all did before there were others.
    var sharingCallbacks: CatalogueDocument {
        var document = self
        for entry in entries(.mvpds) where entry.hasUnsaidCallback { document[entry.key] = entry.tree.with(Self.callback, .string("shared")) }
        return document
    }
}

extension CatalogueDocument.Entry {
    fileprivate var hasUnsaidCallback: Bool {
        guard case .object? = tree["oauth"] else { return false }
        return tree["oauth"]?["callback"] == nil
    }
}

extension JsonTree {
    fileprivate func with(_ path: [String], _ value: JsonTree) -> JsonTree {
        var tree = self
        tree.set(path[...], to: value)
        return tree
    }
}

/// The changes that make one document of another, property by property.
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

/// The difference between two documents at one place.
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
