internal import CatalogueFiles
internal import Contracts
internal import StrictJson

/// The collections of the catalogue, and what the console calls them.
enum ConsoleCollection: String, CaseIterable, Sendable {
    case channels
    case mvpds
    case integrations
    case applications
    case programmers
    case upstreams

    var place: ConsolePlace {
        switch self {
        case .channels: .channels
        case .mvpds: .mvpds
        case .integrations: .integrations
        case .applications: .applications
        case .programmers: .programmers
        case .upstreams: .upstreams
        }
    }

    var kind: EntityKind {
        switch self {
        case .channels: .requestor
        case .mvpds: .mvpd
        case .integrations: .integration
        case .applications: .application
        case .programmers: .programmer
        case .upstreams: .upstream
        }
    }

    /// One of them.
    var noun: String {
        switch self {
        case .channels: "channel"
        case .mvpds: "MVPD"
        case .integrations: "integration"
        case .applications: "application"
        case .programmers: "programmer"
        case .upstreams: "upstream"
        }
    }

    /// Path of one entry for the router.
    var entryPath: String { Console.path + "/\(rawValue)" + (self == .integrations ? "/{requestor}/{mvpd}" : "/{id}") }

    /// The address of an entry, or of a page below it.
    func address(of id: String, _ page: String? = nil, query: KeyValuePairs<String, String> = [:]) -> String {
        let parts = self == .integrations ? id.split(separator: "/", maxSplits: 1).map(String.init) : [id]
        return ConsoleAddress.text([rawValue] + parts + (page.map { [$0] } ?? []), query: query)
    }

    /// True when somebody may change entries of it, or make and remove them; config decides (dashboard §1).
    func mayWrite(_ visitor: Visitor, isReplacement: Bool) -> Bool {
        switch self {
        case .channels, .integrations, .applications: visitor.mayEdit
        case .programmers: visitor.isOperator || (visitor.mayEdit && isReplacement)
        case .mvpds, .upstreams: visitor.isOperator
        }
    }

    /// True for entries that operators alone see: what all programmers share, and nobody else's business (bridge §3.1).
    var isForOperators: Bool { self == .upstreams }

    /// True where too much must be there for fields: a new entry begins as JSON.
    var beginsAsJson: Bool { self == .mvpds || self == .upstreams }

    static func of(_ kind: EntityKind) -> ConsoleCollection? { allCases.first { $0.kind == kind } }
}

/// An entry as the console reads it.
struct ConsoleEntry: Sendable {
    let collection: ConsoleCollection
    let entity: CatalogueEntity
    let tree: JsonTree

    init(_ collection: ConsoleCollection, _ entity: CatalogueEntity) {
        self.collection = collection
        self.entity = entity
        tree = JsonTree.reading(entity.json)
    }

    var id: String { entity.id }

    /// The groups of its form.
    var groups: [FormGroup] { FormGroups.groups(collection, of: tree) }

    /// The name that people use; its id where it has no name.
    var name: String {
        if collection == .integrations { return id.replacing("/", with: " – ") }
        let name = tree["name"]?.text ?? tree["displayName"]?.text ?? ""
        return name.isEmpty ? id : name
    }

    /// Its name, and its id where that is another: what tells it from all others of its collection.
    var fullName: String { collection == .integrations || OctetText(name) == OctetText(id) ? name : "\(name) (\(id))" }

    /// True for an integration that is enabled.
    var isOn: Bool { tree["enabled"] != .bool(false) }
}

extension JsonTree {
    /// - Returns: An empty object for what is no JSON.
    static func reading(_ json: String) -> JsonTree {
        guard let document = try? JsonDocument(parsing: Array(json.utf8)) else { return .object([:]) }
        return JsonTree(document.root)
    }

    /// The value at a path of member names.
    func value(at path: ArraySlice<String>) -> JsonTree? {
        guard let name = path.first else { return self }
        return self[name]?.value(at: path.dropFirst())
    }
}
