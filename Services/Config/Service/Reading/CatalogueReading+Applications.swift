internal import Contracts
internal import StrictJson

extension CatalogueReading {
    private static let platforms: KeyValuePairs<String, Platform> = [
        "ios": .ios, "tvos": .tvos, "roku": .roku, "fireTv": .fireTv, "android": .android, "desktop": .desktop,
        "otherMobile": .otherMobile, "otherTv": .otherTv,
    ]
    /// The scopes of the public APIs (rest-v1 §2.2).
    private static let scopes: Set<String> = [
        "api:client:v1", "api:client:v2", "decisions:owner", "temporary:passes:owner", "analytics:client",
    ]

    func application(_ value: JsonValue) -> Application? {
        value.object { object in
            var application = Application()
            application.id = object.newID { applications.insert($0).inserted }
            application.name = object.text("name")
            application.version = object.text("version", required: false)
            application.programmerID = object.reference("programmer", "programmer", in: programmers)
            application.requestorIDs = requestorIDs(object, programmer: application.programmerID)
            application.platforms = platforms(object)
            application.scopes = object.texts("scopes", required: true) { Self.scopes.contains($0) ? nil : "is no known scope" }
            application.redirectDomains = object.texts("redirectDomains") {
                CatalogueSyntax.isDomain($0) ? nil : "must be a domain name in lower case"
            }
            return application
        }
    }

    /// An application acts for requestors of its own programmer only.
    private func requestorIDs(_ object: JsonObject, programmer: String) -> [String] {
        object.texts("requestors", required: true) { id in
            guard let owner = requestors[id] else { return "names the requestor '\(id)', which is not in the catalogue" }
            return owner == programmer || programmer.isEmpty ? nil : "names the requestor '\(id)', which belongs to the programmer '\(owner)'"
        }
    }

    /// A list of platforms, or the word `all`.
    private func platforms(_ object: JsonObject) -> [Platform] {
        guard let value = object.required("platforms") else { return [] }
        if value.isString {
            if value.string() != "all" { value.problem("must be 'all' or a list of platforms") }
            return Self.platforms.map(\.value)
        }
        return value.array { $0.choice(Self.platforms) }
    }
}
