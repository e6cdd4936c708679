internal import CatalogueFiles

/// What an integration's properties come to on each platform, and where each value is from (dashboard §3).
struct EffectiveTable {
    private static let scopes = [
        ("all", "All"), ("desktop", "Desktop"), ("ios", "iOS"), ("android", "Android"), ("tvos", "tvOS"), ("roku", "Roku"), ("fireTv", "Fire TV"),
        ("unidentified", "Unidentified"),
    ]
    private static let names: [OctetText: String] = [
        "authnTtl": "Sign-in lasts", "authzTtl": "Decision lasts", "hbaAuthnTtl": "Home-based sign-in lasts",
        "preflightMaxResources": "Resources of a preauthorization", "platformSso": "Single sign-on", "displayName": "Display name",
        "logoUrl": "Logo URL", "iframeRequired": "In an iframe", "iframeWidth": "Iframe width", "iframeHeight": "Iframe height",
        "enforcePlatformPermissions": "Enforces platform permissions", "authPerAggregator": "Sign-in for each aggregator",
        "passiveAuthn": "Passive sign-in",
    ]

    /// `nil`: the entry inherits nothing.
    let content: [String: Any]?

    /// - Parameter json: `effectiveJson` of an entity.
    init(_ json: String) {
        guard !json.isEmpty, case .object(let scopes) = JsonTree.reading(json) else {
            content = nil
            return
        }
        let properties = Set(scopes.values.flatMap(\.names))
        let rows = properties.sorted().map { property -> [String: Any] in
            let cells = Self.scopes.map { scope, label -> [String: Any] in
                let found = scopes[scope]?[property]
                return [
                    "effectiveLabel": label, "effective": Self.text(property, found?["value"]), "effectiveSource": found?["source"]?.text ?? "",
                    "isOwnValue": found?["source"]?.text?.hasPrefix("integration") == true,
                ]
            }
            return ["effectiveName": Self.names[OctetText(property)] ?? property, "effectiveCells": cells]
        }
        content = ["effectiveColumns": Self.scopes.map(\.1), "effectiveRows": rows]
    }

    private static func text(_ property: String, _ value: JsonTree?) -> String {
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
