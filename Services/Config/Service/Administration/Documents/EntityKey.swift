internal import Contracts

/// Names an entry of the catalogue; an integration's id is `requestor/mvpd`.
struct EntityKey: Hashable, Sendable, CustomStringConvertible {
    let section: CatalogueSection
    let id: String

    init(_ section: CatalogueSection, _ id: String) {
        self.section = section
        self.id = id
    }

    /// The key that an entry's own members give it; a part that is no text counts as empty.
    init(_ section: CatalogueSection, of tree: JsonTree) {
        self.init(section, section.identity.map { tree[$0]?.text ?? "" }.joined(separator: "/"))
    }

    /// The requestor's id, of an integration.
    var requestor: String { String(id.prefix { $0 != "/" }) }

    /// The MVPD's id, of an integration.
    var mvpd: String { String(id.drop { $0 != "/" }.dropFirst()) }

    var reference: EntityReference { EntityReference(kind: section.kind, id: id) }

    var description: String { "\(section.rawValue)/\(id)" }
}
