/// The attributes of an assertion, and their mapping to metadata keys (mvpd §2.5).
struct AttributeStatements {
    private struct Source {
        let name: String
        let nameFormat: String?
        /// An attribute value that is neither text nor a `NameID` counts as none.
        let values: [String]
    }

    private let sources: [Source]

    init(of assertion: XmlElement) {
        sources = assertion.children("AttributeStatement", in: Namespaces.assertion).flatMap { statement in
            statement.children("Attribute", in: Namespaces.assertion).compactMap { attribute in
                attribute.attribute("Name").map { name in
                    let values = attribute.children("AttributeValue", in: Namespaces.assertion).compactMap(\.textOrNameID)
                    return Source(name: name, nameFormat: attribute.attribute("NameFormat"), values: values)
                }
            }
        }
    }

    /// The names of those that have a value.
    var names: Set<String> { Set(sources.filter { source in source.values.contains { !$0.isEmpty } }.map(\.name)) }

    /// A key that cannot be mapped is left out; that never fails a sign-in.
    func mapped(by map: [AttributeMapping], nameID: NameID?) -> [MappedAttribute] {
        var keys: [String] = []
        var results: [OctetText: MappedAttribute.Value] = [:]
        for entry in map {
            let values =
                entry.source.isEmpty ? nameID.map { [$0.value.rawValue] } ?? [] : values(of: entry.source, nameFormat: entry.sourceNameFormat)
            let (key, part) = Self.split(entry.target)
            guard let value = Self.value(values, as: part == nil ? entry.type : .string), let merged = Self.merge(value, part, into: results[key])
            else { continue }
            if results.updateValue(merged, forKey: key) == nil { keys.append(key) }
        }
        return keys.compactMap { key in results[key].map { MappedAttribute(key: key, value: $0) } }
    }

    private func values(of name: String, nameFormat: String) -> [String] {
        var found: [String] = []
        for source in sources where source.name == name && (nameFormat.isEmpty || source.nameFormat == nameFormat) {
            // Nearly always the only one: then nothing is copied.
            if found.isEmpty { found = source.values } else { found += source.values }
        }
        return found
    }

    /// `maxRating.VCHIP` → `maxRating`, `VCHIP`.
    private static func split(_ target: String) -> (key: String, part: String?) {
        guard let point = target.utf8.firstIndex(of: UInt8(ascii: ".")) else { return (target, nil) }
        return (String(target[..<point]), String(target[target.utf8.index(after: point)...]))
    }

    private static func value(_ values: [String], as type: AttributeMapping.ValueType) -> MappedAttribute.Value? {
        switch type {
        case .list:
            let values = values.contains("") ? values.filter { !$0.isEmpty } : values
            return values.isEmpty ? nil : .list(values)
        case .string:
            return only(values).flatMap { $0.isEmpty ? nil : .string($0) }
        case .boolean:
            return only(values).flatMap(boolean).map(MappedAttribute.Value.boolean)
        }
    }

    /// The one value, which some send twice.
    private static func only(_ values: [String]) -> String? {
        guard let first = values.first, values.allSatisfy({ OctetText($0) == OctetText(first) }) else { return nil }
        return first
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1", "yes": true
        case "false", "0", "no": false
        default: nil
        }
    }

    /// An entry adds its part to an object; otherwise the first entry that yields a value counts.
    private static func merge(
        _ value: MappedAttribute.Value, _ part: String?, into earlier: MappedAttribute.Value?
    ) -> MappedAttribute.Value? {
        switch (part, value, earlier) {
        case (nil, _, nil): value
        case (let part?, .string(let text), nil): .object([part: text])
        case (let part?, .string(let text), .object(let parts)): .object(parts.merging([part: text]) { first, _ in first })
        default: nil
        }
    }
}
