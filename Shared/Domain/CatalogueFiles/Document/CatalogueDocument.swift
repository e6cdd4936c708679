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
