internal import Contracts
internal import StrictJson

extension CatalogueReading {
    static let platforms: KeyValuePairs<String, Platform> = [
        "ios": .ios, "tvos": .tvos, "roku": .roku, "fireTv": .fireTv, "android": .android, "desktop": .desktop,
        "otherMobile": .otherMobile, "otherTv": .otherTv,
    ]
    /// The scopes of the public APIs (rest-v1 §2.2, apple §4).
    private static let scopes: Set<String> = [
        "api:client:v1", "api:client:v2", "decisions:owner", "temporary:passes:owner", "analytics:client", "autosignin:owner",
    ]

    func application(_ value: JsonValue) -> Application? {
        value.object { object in
            var application = Application()
            application.id = object.newID { applications.insert($0).inserted }
            application.name = object.displayName("name")
            application.version = object.text("version", required: false)
            application.programmerID = object.reference("programmer", "programmer", in: programmers)
            if !editions.insert([application.programmerID, application.name, application.version].map { OctetText($0) }).inserted {
                object.problem("has the name '\(application.name)' and the version '\(application.version)' of another application of the programmer")
            }
            application.requestorIDs = requestorIDs(object, programmer: application.programmerID)
            application.platforms = platforms(object)
            application.scopes = object.texts("scopes", required: true) { Self.scopes.contains($0) ? nil : "is no known scope" }
            let domains = application.requestorIDs.compactMap { requestors[$0] }.flatMap { $0.domains.map(\.name) }
            application.redirectDomains = object.texts("redirectDomains") { redirectProblem($0, domains) }
            application.redirectHosts = object.texts("redirectHosts") { CatalogueSyntax.domainProblem($0) }
            application.ssoIssuer = object.flag("ssoIssuer")
            readIdentities(object, &application)
            return application
        }
    }

    /// A domain must be at, or lie under, one of the chosen requestors' (dashboard §2).
    private func redirectProblem(_ domain: String, _ domains: [String]) -> String? {
        if let problem = CatalogueSyntax.domainProblem(domain) { return problem }
        if completeness == .inProgress || domains.isEmpty || domains.contains(where: { domain == $0 || domain.hasSuffix("." + $0) }) { return nil }
        return "is '\(domain)', which is no domain of the application's requestors"
    }

    /// An application acts for requestors of its own programmer only.
    private func requestorIDs(_ object: JsonObject, programmer: String) -> [String] {
        object.texts("requestors", required: true) { id in
            let unknown = "names the requestor '\(id)', which is not in the catalogue"
            guard let owner = requestors[id]?.programmerID else { return unknown }
            if owner == programmer || programmer.isEmpty { return nil }
            return namesOthers ? "names the requestor '\(id)', which belongs to the programmer '\(owner)'" : unknown
        }
    }

    /// A list of platforms, or the word `all`.
    func platforms(_ object: JsonObject) -> [Platform] {
        guard let value = object.required("platforms") else { return [] }
        if value.isString {
            if value.string() != "all" { value.problem("must be 'all' or a list of platforms") }
            return Self.platforms.map(\.value)
        }
        return value.array { $0.choice(Self.platforms) }
    }
}
