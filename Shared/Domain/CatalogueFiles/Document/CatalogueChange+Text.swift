public import Contracts

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
