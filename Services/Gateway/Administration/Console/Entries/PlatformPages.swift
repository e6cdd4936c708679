internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The values that an integration sets for one platform or a category of them, in place of the inherited ones (dashboard §3).
struct PlatformPages: Sendable {
    static let path = ConsoleCollection.integrations.entryPath + "/platforms/{scope}"
    private static let list = "platformOverrides"

    let console: Console

    private var pages: EntryPages { EntryPages(console: console, collection: .integrations) }

    @Sendable func edit(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let place = try await place(exchange, visitor)
        return await page(EntryForm(place.groups, of: place.own), place, visitor, exchange)
    }

    @Sendable func save(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let place = try await place(exchange, visitor)
        var typed = try EntryForm(place.groups, typed: exchange)
        let wanted = place.entry(with: typed.applied(to: place.own))
        guard typed.problems.isEmpty else { return await page(typed, place, visitor, exchange, status: .unprocessableContent) }
        let request = ReplaceEntityRequest(
            token: visitor.secret, kind: .integration, id: place.entry.id, json: wanted.canonical, ifMatch: try exchange.value("etag") ?? "")
        switch try await console.administration.replaceEntity(request, context: exchange.changingCall).outcome {
        case .changed: return saved(place)
        case .refusal(let refusal) where refusal.reason == .preconditionFailed:
            if wanted == place.entry.tree { return saved(place) }
            return await page(typed, place, visitor, exchange, overtaken: true, status: .conflict)
        case .refusal(let refusal):
            typed.tell(refusal.problems.map { FieldProblem(field: place.field($0.field), message: $0.message) })
            if refusal.problems.isEmpty { typed.otherProblems.append(refusal.message) }
            return await page(typed, place, visitor, exchange, status: AdministrationError(refusal).status)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    /// An integration and one of its levels.
    private struct Place {
        let entry: ConsoleEntry
        let scope: String
        let name: String

        private var overrides: [JsonTree] { entry.tree[PlatformPages.list]?.elements ?? [] }

        private var index: Int? { overrides.firstIndex { $0["scope"]?.text == scope } }

        /// The values that the level sets itself.
        var own: JsonTree { index.map { overrides[$0] } ?? .object(["scope": .string(scope)]) }

        var groups: [FormGroup] {
            let effective = JsonTree.reading(entry.entity.effectiveJson)[scope]
            return PlatformScopes.groups { property in
                guard let found = effective?[property], let source = found["source"]?.text else { return nil }
                return "\(EffectiveTable.text(property, found["value"])) (\(source))"
            }
        }

        /// A level that sets nothing is none.
        func entry(with own: JsonTree) -> JsonTree {
            var list = overrides
            let isEmpty = own == .object(["scope": .string(scope)])
            switch (index, isEmpty) {
            case (let index?, false): list[index] = own
            case (let index?, true): list.remove(at: index)
            case (nil, false): list.append(own)
            case (nil, true): break
            }
            var tree = entry.tree
            tree.set([PlatformPages.list], to: list.isEmpty && overrides.isEmpty ? tree[PlatformPages.list] : list.isEmpty ? nil : .array(list))
            return tree
        }

        /// A problem's place within the level, where it is there.
        func field(_ place: String) -> String {
            let prefix = "\(PlatformPages.list)[\(index ?? overrides.count)]."
            return place.hasPrefix(prefix) ? String(place.dropFirst(prefix.count)) : place
        }
    }

    private func place(_ exchange: Exchange, _ visitor: Visitor) async throws -> Place {
        let scope = try exchange.captured("scope")
        guard let name = PlatformScopes.name(scope) else { throw Fault(.notFound, "There is no such platform.") }
        return Place(entry: try await pages.entry(exchange, visitor), scope: scope, name: name)
    }

    private func saved(_ place: Place) -> Response {
        Console.seeOther(ConsoleCollection.integrations.address(of: place.entry.id, query: ["saved": "1"]))
    }

    /// - Parameter overtaken: Somebody has changed the integration since the form was shown.
    private func page(
        _ form: EntryForm, _ place: Place, _ visitor: Visitor, _ exchange: Exchange, overtaken: Bool = false, status: HTTPResponse.Status = .ok
    ) async -> Response {
        let entry = place.entry
        var content = FormContent(form).content
        content.merge([
            "noun": "integration", "entryName": "\(entry.name): \(place.name)", "entryAddress": ConsoleCollection.integrations.address(of: entry.id),
            "placeName": ConsolePlace.integrations.name, "placeAddress": ConsolePlace.integrations.address, "etag": entry.entity.etag,
            "formAddress": ConsoleAddress.text(["integrations"] + entry.id.split(separator: "/").map(String.init) + ["platforms", place.scope]),
        ]) { own, _ in own }
        if overtaken { content["overtaken"] = ["groups": FormContent.facts(EntryForm(place.groups, of: place.own))] }
        return await console.page(
            "edit", "Edit \(entry.name) on \(place.name)", in: .integrations, content, for: visitor, exchange, status: status)
    }
}

/// The levels at which an integration sets values for platforms (dashboard §3), from the whole to the single one.
enum PlatformScopes {
    static let all: [(scope: String, name: String)] = [
        ("all", "All"), ("desktop", "Desktop"), ("mobile", "Mobile"), ("ios", "iOS"), ("android", "Android"), ("tv", "TV"), ("tvos", "tvOS"),
        ("roku", "Roku"), ("fireTv", "Fire TV"), ("unidentified", "Unidentified"),
    ]

    static func name(_ scope: String) -> String? { all.first { $0.scope == scope }?.name }

    /// - Parameter inherited: The effective value of a property now, in words; `nil`: unknown.
    static func groups(_ inherited: (String) -> String?) -> [FormGroup] {
        func field(_ name: String, _ label: String, _ kind: FormField.Kind) -> FormField {
            FormField(name, label, kind, hint: inherited(name).map { "Empty: inherited. Now \($0)." } ?? "Empty: inherited.")
        }
        func flag(_ name: String, _ label: String) -> FormField {
            field(name, label, .choice([("", "inherited"), ("on", "On"), ("off", "Off")]))
        }
        return [
            FormGroup(
                title: "Lifetimes",
                fields: [
                    field("authnTtl", "Sign-in lasts", .lifetime), field("authzTtl", "Decision lasts", .lifetime),
                    field("hbaAuthnTtl", "Home-based sign-in lasts", .lifetime),
                ]),
            FormGroup(
                title: "Sign-in and decisions",
                fields: [
                    flag("platformSso", "Single sign-on of the platform"), flag("enforcePlatformPermissions", "Enforces platform permissions"),
                    flag("authPerAggregator", "Sign-in for each aggregator"), flag("passiveAuthn", "Passive sign-in"),
                    field("preflightMaxResources", "Most resources of one preauthorization", .number),
                ]),
            FormGroup(
                title: "Appearance",
                fields: [
                    field("displayName", "Display name", .text), field("logoUrl", "Logo URL", .text), flag("iframeRequired", "In an iframe"),
                    field("iframeWidth", "Iframe width, in pixels", .number), field("iframeHeight", "Iframe height, in pixels", .number),
                ]),
        ]
    }
}

/// The effective values of an integration's properties on each platform, and the source of each value (dashboard §3).
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
    ///   - id: The id of the integration, whose levels may be changed; `nil`: they may not.
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
