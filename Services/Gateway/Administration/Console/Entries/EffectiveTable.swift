internal import CatalogueFiles

/// What an integration's properties come to on each platform, and where each value is from (dashboard §3).
struct EffectiveTable {
    private static let names: [OctetText: String] = [
        "authnTtl": "Sign-in lasts", "authzTtl": "Decision lasts", "hbaAuthnTtl": "Home-based sign-in lasts",
        "preflightMaxResources": "Resources of a preauthorization", "platformSso": "Single sign-on", "displayName": "Display name",
        "logoUrl": "Logo URL", "iframeRequired": "In an iframe", "iframeWidth": "Iframe width", "iframeHeight": "Iframe height",
        "enforcePlatformPermissions": "Enforces platform permissions", "authPerAggregator": "Sign-in for each aggregator",
        "passiveAuthn": "Passive sign-in",
    ]

    /// `nil`: the entry inherits nothing.
    let content: [String: Any]?

    /// - Parameters:
    ///   - json: `effectiveJson` of an entity.
    ///   - id: Of the integration, whose levels may be changed; `nil`: they may not.
    init(_ json: String, editing id: String? = nil) {
        guard !json.isEmpty, case .object(let scopes) = JsonTree.reading(json) else {
            content = nil
            return
        }
        let properties = Set(scopes.values.flatMap(\.names))
        let rows = properties.sorted().map { property -> [String: Any] in
            let cells = PlatformScopes.all.map { scope, label -> [String: Any] in
                let found = scopes[scope]?[property]
                return [
                    "effectiveLabel": label, "effective": Self.text(property, found?["value"]), "effectiveSource": found?["source"]?.text ?? "",
                    "isOwnValue": found?["source"]?.text?.hasPrefix("integration") == true,
                ]
            }
            return ["effectiveName": Self.names[OctetText(property)] ?? property, "effectiveCells": cells]
        }
        let columns = PlatformScopes.all.map { scope, name -> [String: Any] in
            var column: [String: Any] = ["columnName": name]
            if let id {
                column["columnAddress"] = ConsoleAddress.text(["integrations"] + id.split(separator: "/").map(String.init) + ["platforms", scope])
            }
            return column
        }
        content = ["effectiveColumns": columns, "effectiveRows": rows]
    }

    /// A value in words.
    static func text(_ property: String, _ value: JsonTree?) -> String {
        switch value {
        // Nobody has set it.
        case .number("0"): "–"
        case .number(let text): property.hasSuffix("Ttl") ? LifetimeText(seconds: Int(text) ?? 0).text : text
        case .bool(let flag): flag ? "On" : "Off"
        case .string(let text): text.isEmpty ? "–" : text
        default: "–"
        }
    }
}

extension JsonTree {
    /// Names of an object's members.
    fileprivate var names: [String] { if case .object(let members) = self { Array(members.keys) } else { [] } }
}
