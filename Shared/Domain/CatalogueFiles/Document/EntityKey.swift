package import Contracts

/// Names an entry of the catalogue; an integration's id is `requestor/mvpd`.
package struct EntityKey: Hashable, Sendable, CustomStringConvertible {
    package let section: CatalogueSection
    package let id: String

    package init(_ section: CatalogueSection, _ id: String) {
        self.section = section
        self.id = id
    }

    /// The key that an entry's own members give it; a part that is no text counts as empty.
    package init(_ section: CatalogueSection, of tree: JsonTree) {
        self.init(section, section.identity.map { tree[$0]?.text ?? "" }.joined(separator: "/"))
    }

    /// The requestor's id, of an integration.
    package var requestor: String { String(Substring(id.utf8.prefix { $0 != UInt8(ascii: "/") })) }

    /// The MVPD's id, of an integration.
    package var mvpd: String { String(Substring(id.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst())) }

    package var reference: EntityReference { EntityReference(kind: section.kind, id: id) }

    package var description: String { "\(section.rawValue)/\(id)" }
}
