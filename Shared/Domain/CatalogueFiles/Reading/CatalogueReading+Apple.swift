internal import Contracts
internal import StrictJson

/// A programmer's developer teams at Apple (apple §1.3, §2.4, §2.8).
///
/// The autosignin service says whether the key files are there: they lie with it.
extension CatalogueReading {
    func appleTeam(_ value: JsonValue) -> AppleTeam? {
        value.object { object in
            var team = AppleTeam()
            team.teamID = appleID("teamId", object, required: true)
            if !team.teamID.isEmpty, !appleTeams.insert(team.teamID).inserted {
                object.optional("teamId")?.problem("is '\(team.teamID)', which another one has")
            }
            readKeys(object, &team)
            team.groups = object.required("groups")?.array(appleGroup) ?? []
            if let groups = object.optional("groups"), groups.isArray, team.groups.isEmpty { groups.problem("must hold a group at least") }
            return team
        }
    }

    private func readKeys(_ object: JsonObject, _ team: inout AppleTeam) {
        team.signInKeyID = appleID("signInKeyId", object)
        team.signInKeyReference = keyReference("signInKeyReference", object)
        team.issuerID = issuerID(object)
        team.purchaseKeyID = appleID("purchaseKeyId", object)
        team.purchaseKeyReference = keyReference("purchaseKeyReference", object)
        let signIn = [team.signInKeyID, team.signInKeyReference]
        let purchase = [team.issuerID, team.purchaseKeyID, team.purchaseKeyReference]
        if signIn.contains("") != signIn.allSatisfy(\.isEmpty) {
            object.problem("must have both or none of signInKeyId and signInKeyReference")
        }
        if purchase.contains("") != purchase.allSatisfy(\.isEmpty) {
            object.problem("must have all or none of issuerId, purchaseKeyId and purchaseKeyReference")
        }
        if (signIn + purchase).allSatisfy(\.isEmpty) {
            object.problem("must have a sign-in key or a purchase key: without both it serves for nothing")
        }
    }

    private func appleGroup(_ value: JsonValue) -> AppleAppGroup? {
        value.object { object in
            var group = AppleAppGroup()
            group.id = object.text("id")
            group.bundleIDs = clientIDs("bundleIds", object, required: true)
            group.servicesIDs = clientIDs("servicesIds", object, required: false)
            if !group.id.isEmpty, !group.bundleIDs.contains(group.id) {
                object.optional("id")?.problem("is '\(group.id)', which is not among the bundleIds: a group has the id of its primary app")
            }
            return group
        }
    }

    /// Apple's answers and notifications name an app alone: it says which group, team and programmer they are about, so none occurs twice.
    private func clientIDs(_ name: String, _ object: JsonObject, required isRequired: Bool) -> [String] {
        guard let value = isRequired ? object.required(name) : object.optional(name) else { return [] }
        let ids = value.array { element -> String? in
            guard let id = element.string() else { return nil }
            if !CatalogueSyntax.isReverseDomainName(id) {
                element.problem("must be a reverse domain name of letters, digits and '-', such as 'example.acme.tv'; it is '\(id)'")
            } else if let place = appleClients[id] {
                element.problem(namesOthers ? "is '\(id)', which stands at \(place) already" : "is '\(id)', which is taken")
            } else {
                appleClients[id] = element.path
            }
            return id
        }
        if isRequired, ids.isEmpty, value.isArray { value.problem("must not be empty") }
        return ids
    }

    private func appleID(_ name: String, _ object: JsonObject, required isRequired: Bool = false) -> String {
        checked(name, object, required: isRequired, CatalogueSyntax.isAppleID) { "must be 10 upper-case letters and digits; it is '\($0)'" }
    }

    private func issuerID(_ object: JsonObject) -> String {
        checked("issuerId", object, CatalogueSyntax.isUUID) { "must be a UUID, as App Store Connect shows it; it is '\($0)'" }
    }

    private func keyReference(_ name: String, _ object: JsonObject) -> String {
        checked(name, object, CatalogueSyntax.isFileName) { _ in
            "must be the name of a key file, of letters, digits, '.', '_' and '-'; it is never a path, nor the key itself"
        }
    }

    /// An empty text is not as good as none.
    private func checked(
        _ name: String, _ object: JsonObject, required isRequired: Bool = false, _ fits: (String) -> Bool, _ problem: (String) -> String
    ) -> String {
        guard let value = isRequired ? object.required(name) : object.optional(name), let text = value.string() else { return "" }
        if !fits(text) { value.problem(problem(text)) }
        return text
    }
}

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

/// MVPDs that a proxy lists by itself (dashboard §4): what the list does not say is the proxy's own.
extension CatalogueReading {
    /// Reads `listed` and `requestors` of an MVPD's `proxy`.
    func readListing(_ proxy: JsonObject, of mvpd: String) {
        guard proxy.flag("listed") else { return }
        let known = requestors
        let ids = proxy.texts("requestors") { known[$0] == nil ? "names the requestor '\($0)', which is not in the catalogue" : nil }
        listed[mvpd] = Set(ids.map { OctetText($0) })
    }

    /// Gives listed MVPDs what their proxies have, and integrations with the requestors of these.
    func completeListed(_ configuration: inout Configuration) {
        guard !listed.isEmpty else { return }
        for index in configuration.mvpds.indices where listed[configuration.mvpds[index].id] != nil {
            let own = configuration.mvpds[index]
            guard let proxy = mvpds[own.proxyMvpdID] else { continue }
            configuration.mvpds[index] = Self.completed(own, from: proxy)
        }
        let behind = Dictionary(grouping: configuration.mvpds.filter { listed[$0.id] != nil }) { OctetText($0.proxyMvpdID) }
        configuration.integrations += configuration.integrations.flatMap { integration in
            (behind[OctetText(integration.mvpdID)] ?? []).compactMap { derived(from: integration, for: $0.id) }
        }
    }

    private static func completed(_ own: Mvpd, from proxy: Mvpd) -> Mvpd {
        var mvpd = proxy
        (mvpd.id, mvpd.displayName, mvpd.logoURL) = (own.id, own.displayName, own.logoURL)
        (mvpd.isProxied, mvpd.proxyMvpdID, mvpd.providerID) = (true, own.proxyMvpdID, own.providerID)
        (mvpd.iframeRequired, mvpd.iframeWidth, mvpd.iframeHeight) = (own.iframeRequired, own.iframeWidth, own.iframeHeight)
        mvpd.requiresSafariViewController = own.requiresSafariViewController
        // The proxy's own way serves; a platform knows the proxy by its name, not those behind it.
        mvpd.signIn = nil
        mvpd.platforms = []
        mvpd.scheduledSignIn = nil
        mvpd.platformOverrides = proxy.platformOverrides.map(withoutLooks)
        return mvpd
    }

    /// - Returns: `nil` where the list leaves the requestor out, or the catalogue says itself what holds between the two.
    private func derived(from proxy: Integration, for mvpd: String) -> Integration? {
        let requestor = OctetText(proxy.requestorID)
        guard let named = listed[mvpd], named.isEmpty || named.contains(requestor), !integrations.contains([requestor, OctetText(mvpd)]) else {
            return nil
        }
        var integration = proxy
        integration.mvpdID = mvpd
        integration.platformSsoEnabled = false
        // Each MVPD agrees to that for itself.
        integration.autoSignIn = false
        integration.platformOverrides = proxy.platformOverrides.map(Self.withoutLooks)
        return integration
    }

    private static func withoutLooks(_ values: PlatformOverride) -> PlatformOverride {
        var values = values
        (values.displayName, values.logoURL) = ("", "")
        (values.iframeRequired, values.iframeWidth, values.iframeHeight) = (.inherited, 0, 0)
        values.platformSso = .inherited
        return values
    }
}
