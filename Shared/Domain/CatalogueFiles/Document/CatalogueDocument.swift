public import Contracts
package import StrictJson

/// A whole catalogue as JSON, by sections and entries.
package struct CatalogueDocument: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let key: EntityKey
        package var tree: JsonTree
    }

    private var sections: [CatalogueSection: [Entry]] = [:]

    /// - Parameter tree: An object with the sections; what is no section, or in none, is left out.
    package init(_ tree: JsonTree) {
        for section in CatalogueSection.allCases {
            sections[section] = tree[section.rawValue]?.elements.map { Entry(key: EntityKey(section, of: $0), tree: $0) }
        }
    }

    /// - Parameter text: A canonical text.
    /// - Throws: `JsonSyntaxError`.
    package init(parsing text: [UInt8]) throws(JsonSyntaxError) { self.init(JsonTree(try JsonDocument(parsing: text).root)) }

    /// In the order of the document.
    package func entries(_ section: CatalogueSection) -> [Entry] { sections[section] ?? [] }

    /// The entry as it is; setting one that is not there appends it, `nil` removes it.
    package subscript(key: EntityKey) -> JsonTree? {
        get { sections[key.section]?.first { $0.key == key }?.tree }
        set {
            var entries = entries(key.section)
            let index = entries.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let tree?): entries[index].tree = tree
            case (let index?, nil): entries.remove(at: index)
            case (nil, let tree?): entries.append(Entry(key: key, tree: tree))
            case (nil, nil): break
            }
            sections[key.section] = entries
        }
    }

    package var tree: JsonTree {
        let members = CatalogueSection.allCases.compactMap { section -> (String, JsonTree)? in
            let entries = entries(section)
            return entries.isEmpty && !section.isMandatory ? nil : (section.rawValue, .array(entries.map(\.tree)))
        }
        return .object(Dictionary(uniqueKeysWithValues: members))
    }

    /// A document with some of the entries.
    package func filtered(_ isIncluded: (EntityKey) -> Bool) -> CatalogueDocument {
        var document = self
        for section in CatalogueSection.allCases { document.sections[section] = entries(section).filter { isIncluded($0.key) } }
        return document
    }
}

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

extension CatalogueChange {
    /// One line: `requestors/ACME1: name "Acme" -> "Acme HD"`. Long values are cut.
    public var text: String {
        let place = "\(section)/\(entityID)"
        switch operation {
        case .add where property.isEmpty: return "\(place) is added"
        case .remove where property.isEmpty: return "\(place) is removed"
        case .add: return "\(place): \(property) \(Self.cut(newJson)) is added"
        case .remove: return "\(place): \(property) \(Self.cut(oldJson)) is removed"
        default: return "\(place): \(property) \(Self.cut(oldJson)) -> \(Self.cut(newJson))"
        }
    }

    private var section: String { CatalogueSection.allCases.first { $0.kind == kind }?.rawValue ?? "entries" }

    private static func cut(_ json: String) -> String { json.count <= 60 ? json : "\(json.prefix(57))..." }
}

/// The arrays of a catalogue document; the raw value is the array's name.
package enum CatalogueSection: String, CaseIterable, Sendable {
    case programmers, requestors, mvpds, integrations, applications, platformIdentityIssuers, serviceTokenIssuers, upstreams

    package init?(_ kind: EntityKind) {
        guard let section = Self.allCases.first(where: { $0.kind == kind }) else { return nil }
        self = section
    }

    package var kind: EntityKind {
        switch self {
        case .programmers: .programmer
        case .requestors: .requestor
        case .mvpds: .mvpd
        case .integrations: .integration
        case .applications: .application
        case .platformIdentityIssuers: .platformIdentityIssuer
        case .serviceTokenIssuers: .serviceTokenIssuer
        case .upstreams: .upstream
        }
    }

    /// The members of an entry that make its id.
    package var identity: [String] {
        switch self {
        case .programmers, .requestors, .mvpds, .applications, .upstreams: ["id"]
        case .integrations: ["requestor", "mvpd"]
        case .platformIdentityIssuers, .serviceTokenIssuers: ["issuer"]
        }
    }

    /// The word of people for one entry.
    package var noun: String {
        switch self {
        case .programmers: "programmer"
        case .requestors: "requestor"
        case .mvpds: "MVPD"
        case .integrations: "integration"
        case .applications: "application"
        case .platformIdentityIssuers: "platform identity issuer"
        case .serviceTokenIssuers: "service token issuer"
        case .upstreams: "upstream"
        }
    }

    /// True when a document without entries of the section has it nevertheless.
    package var isMandatory: Bool {
        switch self {
        case .programmers, .requestors, .mvpds, .integrations: true
        case .applications, .platformIdentityIssuers, .serviceTokenIssuers, .upstreams: false
        }
    }
}
