internal import CatalogueFiles
internal import GatewayEdge

/// One property of an entry that a form shows.
struct FormField: Sendable {
    enum Kind: Sendable {
        case text
        /// A text in each line.
        case lines
        case toggle(usually: Bool)
        /// Seconds, as days, hours, minutes and seconds; none: inherited.
        case lifetime
        case number
        case choice([(value: String, label: String)])
        /// `userID`, or `zip encrypted`, in each line.
        case metadataKeys
    }

    /// Names of members, with a dot between; also the parameter's name and the beginning of the places that problems name.
    let name: String
    let label: String
    let hint: String
    let kind: Kind

    init(_ name: String, _ label: String, _ kind: Kind, hint: String = "") {
        self.name = name
        self.label = label
        self.kind = kind
        self.hint = hint
    }

    var path: [String] { name.split(separator: ".").map(String.init) }

    /// Parameters that the form has for it.
    static let lifetimeParts: [(suffix: String, label: String, seconds: Int)] = [
        ("d", "days", 86_400), ("h", "hours", 3600), ("m", "minutes", 60), ("s", "seconds", 1),
    ]
}

/// Fields that belong together.
struct FormGroup: Sendable {
    let title: String
    let fields: [FormField]
}
