/// The levels at which an integration sets values for platforms (dashboard §3), from the whole to the single one.
enum PlatformScopes {
    static let all: [(scope: String, name: String)] = [
        ("all", "All"), ("desktop", "Desktop"), ("mobile", "Mobile"), ("ios", "iOS"), ("android", "Android"), ("tv", "TV"), ("tvos", "tvOS"),
        ("roku", "Roku"), ("fireTv", "Fire TV"), ("unidentified", "Unidentified"),
    ]

    static func name(_ scope: String) -> String? { all.first { $0.scope == scope }?.name }

    /// - Parameter inherited: What a property comes to now, in words; `nil`: unknown.
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
