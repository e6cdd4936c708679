internal import Catalogue
internal import CatalogueFiles
internal import Contracts

/// What an integration's properties come to, platform by platform, and where each value is from (dashboard §3).
enum EffectiveValues {
    static let scopes: [PlatformScope] = [.all, .desktop, .mobile, .ios, .android, .tv, .tvos, .roku, .fireTv, .unidentified]

    /// `{"roku": {"authnTtl": {"value": 604800, "source": "integration:roku", "mandatory": false}, …}, …}`; empty for an unknown integration.
    static func json(_ key: EntityKey, in configuration: Configuration) -> String {
        // A whole catalogue is indexed for many questions; this is one.
        let (requestorID, mvpdID) = (key.requestor, key.mvpd)
        guard let integration = configuration.integrations.first(where: { $0.requestorID == requestorID && $0.mvpdID == mvpdID }),
            let mvpd = configuration.mvpds.first(where: { $0.id == mvpdID })
        else { return "" }
        let members = scopes.map { scope in (scope.name, properties(Catalogue.effective(integration, mvpd, scope: scope))) }
        return JsonTree.object(Dictionary(uniqueKeysWithValues: members)).canonical
    }

    private static func properties(_ properties: [EffectiveProperty]) -> JsonTree {
        let members = properties.map { property in
            let tree: JsonTree = .object([
                "value": value(property.value), "source": .string("\(property.source)"), "mandatory": .bool(property.isMandatory),
            ])
            return (property.name, tree)
        }
        return .object(Dictionary(uniqueKeysWithValues: members))
    }

    private static func value(_ value: EffectiveProperty.Value) -> JsonTree {
        switch value {
        case .number(let number): .number("\(number)")
        case .flag(let flag): .bool(flag)
        case .text(let text): .string(text)
        }
    }
}
