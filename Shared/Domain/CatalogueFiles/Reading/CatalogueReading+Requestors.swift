internal import Catalogue
internal import Contracts
internal import StrictJson

extension CatalogueReading {
    func requestor(_ value: JsonValue) -> Requestor? {
        value.object { object in
            var requestor = Requestor()
            requestor.id = object.newID { requestors[$0] == nil }
            requestor.name = object.displayName("name")
            requestor.programmerID = object.reference("programmer", "programmer", in: programmers)
            requestor.domains = domains(object)
            requestor.enhancedErrors = object.flag("enhancedErrors")
            requestor.confirmsSignIn = object.flag("confirmsSignIn")
            requestor.requiresDeviceInformation = object.choice("deviceInformation", ["optional": false, "required": true], else: false)
            requestor.bindsStoredTokens = object.choice("storedTokens", ["alone": false, "bound": true], else: false)
            requestor.registrationURL = object.url("registrationUrl", required: false)
            requestor.defaultRedirectURL = object.url("defaultRedirectUrl", required: false)
            requestor.mediaTokenFormat = object.choice("mediaTokenFormat", ["reference": .reference, "jws": .jws], else: .reference)
            requestor.mediaTokenTtlSeconds = object.number("mediaTokenTtl", 1...3600)
            requestor.customSchemes = customSchemes(object)
            requestor.channels = object.texts("channels")
            requestor.certificates = certificates(object)
            look(object, of: &requestor)
            requestor.bridge = requestorBridge(object, of: requestor)
            if requestor.cannotConfirm {
                warn(
                    "has no effect on sign-ins at the upstream, which has no returnOrigin: a link that is sent to somebody signs the sender's device in",
                    at: object.path.appending(key: "confirmsSignIn"))
            }
            if !requestor.id.isEmpty { requestors[requestor.id] = requestor }
            return requestor
        }
    }

    /// The look of the channel on the gateway's own pages (dashboard §8).
    private func look(_ object: JsonObject, of requestor: inout Requestor) {
        requestor.favouriteMvpds = object.texts("favouriteMvpds") {
            CatalogueSyntax.isID($0) ? nil : "must be the id of an MVPD; it is '\($0)'"
        }
        if requestor.favouriteMvpds.count > Self.mostFavourites {
            object.optional("favouriteMvpds")?.problem("must have at most \(Self.mostFavourites) elements")
        }
        requestor.logoURL = object.url("logoUrl", required: false)
        requestor.accentColor = color("accentColor", object)
        requestor.headerColor = color("headerColor", object)
    }

    /// As many as a phone shows without the others getting out of sight.
    private static let mostFavourites = 24

    private func color(_ name: String, _ object: JsonObject) -> String {
        guard let value = object.optional(name), let text = value.string() else { return "" }
        if !CatalogueSyntax.isColor(text) { value.problem("must be '#' and six hex digits, for example #0b5fad; it is '\(text)'") }
        return text
    }

    /// Generated ones (dashboard §2).
    func customSchemes(_ object: JsonObject) -> [String] {
        object.texts("customSchemes") { CatalogueSyntax.isCustomScheme($0) ? nil : "must be 'adbe.' and 22 characters of base64url" }
    }

    /// A domain below another one of the list is pointless (dashboard §2).
    private func domains(_ object: JsonObject) -> [Domain] {
        guard let value = object.required("domains") else { return [] }
        var places: [(name: String, path: JsonPath)] = []
        let domains = value.array { element -> Domain? in
            let domain = domain(element)
            if let name = domain?.name, !name.isEmpty {
                if places.contains(where: { $0.name == name }) { element.problem("is there twice") }
                places.append((name, element.path))
            }
            return domain
        }
        for (name, path) in places {
            guard let wider = places.first(where: { name.hasSuffix("." + $0.name) }) else { continue }
            warn("is '\(name)', which '\(wider.name)' covers already", at: path)
        }
        return domains
    }

    /// `"acme.example"`, or an object where something else is to be said of the domain.
    private func domain(_ value: JsonValue) -> Domain? {
        if value.isString { return domainName(value).map { Domain(name: $0) } }
        return value.object { object in
            let isDevelopment = object.flag("development")
            return Domain(
                name: object.required("name").flatMap { domainName($0, orLoopback: isDevelopment) } ?? "",
                mvpdInitiated: object.flag("mvpdInitiated"), development: isDevelopment)
        }
    }

    /// - Parameter orLoopback: Also a name of this machine, where a developer's page lies.
    private func domainName(_ value: JsonValue, orLoopback: Bool = false) -> String? {
        guard let name = value.string() else { return nil }
        if orLoopback, PlainHTTP.isAllowed(name) { return name }
        if let problem = CatalogueSyntax.domainProblem(name) { value.problem(problem) }
        return name
    }
}
