internal import Catalogue
internal import Contracts
internal import Foundation
internal import StrictJson

extension CatalogueReading {
    func signIn(_ object: JsonObject, isProxied: Bool) -> Mvpd.SignIn? {
        let found: [Mvpd.SignIn?] = [
            object.optional("saml").map { .saml(saml($0) ?? SamlEndpoint()) },
            object.optional("oauth").map { .oauth(oauth($0) ?? OAuthEndpoint()) },
            object.optional("tempPass").map { .tempPass(tempPass($0) ?? TempPass()) },
        ]
        let present = found.compactMap { $0 }
        // Behind a proxy the proxy's own way serves.
        if present.isEmpty, isProxied { return nil }
        if present.count != 1 { object.problem("must have exactly one of 'saml', 'oauth', 'tempPass', 'upstreamOnly'; it has \(present.count)") }
        return present.first
    }

    private func saml(_ value: JsonValue) -> SamlEndpoint? {
        value.object { object in
            var saml = SamlEndpoint()
            saml.idpEntityID = object.uri("idpEntityId", required: true)
            saml.ssoURL = object.url("ssoUrl")
            readLogout(object, &saml)
            saml.requestBinding = object.requiredChoice("requestBinding", ["redirect": .redirect, "post": .post]) ?? .redirect
            saml.signingCertificates = signingCertificates(object)
            saml.signaturePolicy = object.choice(
                "signaturePolicy", ["assertion": .assertion, "response": .response, "both": .both], else: .assertion)
            saml.signatureAlgorithms = object.texts("signatureAlgorithms") {
                CatalogueSyntax.signatureAlgorithms.contains($0) ? nil : "is no signature algorithm that is accepted (mvpd §2.3, 14)"
            }
            saml.legacySha1UntilMilliseconds = object.date("legacySha1Until")
            saml.nameIDFormat = object.uri("nameIdFormat")
            saml.spNameQualifier = object.text("spNameQualifier", required: false)
            saml.disallowCreate = !object.flag("allowCreate", else: true)
            saml.forceAuthn = object.flag("forceAuthn")
            saml.scopingMode = object.choice(
                "scopingMode", ["issuerSuffix": .issuerSuffix, "requesterId": .requesterId, "both": .both, "none": .none], else: .issuerSuffix)
            saml.partnerID = object.text("partnerId", required: false)
            saml.guidAttributeName = object.text("guidAttributeName", required: false)
            saml.attributeMap = object.optional("attributeMap")?.array(attributeMapping) ?? []
            saml.clockSkewSeconds = object.number("clockSkew", 1...600)
            saml.maxResponseAgeSeconds = object.number("maxResponseAge", 1...3600)
            saml.encryption = object.choice("encryption", ["optional": .optional, "required": .required], else: .optional)
            saml.platformExchange = object.optional("profileExchange").flatMap(platformExchange)
            saml.allowMissingCookie = object.flag("allowMissingCookie")
            return saml
        }
    }

    private func readLogout(_ object: JsonObject, _ saml: inout SamlEndpoint) {
        saml.logoutURL = object.url("logoutUrl", required: false)
        saml.logoutBinding = object.choice("logoutBinding", ["redirect": .redirect, "post": .post], else: .redirect)
        saml.logoutResponseURL = object.url("logoutResponseUrl", required: false)
        saml.plainLogout = object.optional("plainLogout").flatMap(plainLogout)
        if saml.logoutURL.isEmpty {
            for name in ["logoutBinding", "logoutResponseUrl"] { object.optional(name)?.problem("must be there only with a logoutUrl") }
        } else {
            object.optional("plainLogout")?.problem("must not be there beside logoutUrl: a browser visits one of them")
        }
    }

    private func plainLogout(_ value: JsonValue) -> PlainLogout? {
        value.object { object in
            var logout = PlainLogout()
            logout.url = object.url("url")
            logout.returnParameter = object.text("returnParameter", required: false)
            return logout
        }
    }

    private func platformExchange(_ value: JsonValue) -> PlatformExchange? {
        value.object { object in
            var exchange = PlatformExchange()
            exchange.requestKind = object.choice(
                "requestKind", ["authnRequest": .authnRequest, "attributeQuery": .attributeQuery], else: .authnRequest)
            exchange.inResponseToMode = object.choice("inResponseToMode", ["strict": .strict, "device": .device], else: .strict)
            // Without a request that it answers, an answer is good for a short time only (mvpd §2.8).
            exchange.maxAgeSeconds = object.number("maxAge", 1...(exchange.inResponseToMode == .device ? 300 : 3600))
            return exchange
        }
    }

    private func signingCertificates(_ object: JsonObject) -> [[UInt8]] {
        guard let value = object.required("signingCertificates") else { return [] }
        var count = 0
        let certificates = value.array { element in
            count += 1
            return self.certificates.certificate(element)
        }
        if value.isArray, !(1...4).contains(count) { value.problem("must hold 1 to 4 certificates; it holds \(count)") }
        if Set(certificates).count != certificates.count { value.problem("holds a certificate twice") }
        return certificates
    }

    func attributeMapping(_ value: JsonValue) -> AttributeMapping? {
        value.object { object in
            var mapping = AttributeMapping()
            mapping.source = object.text("source", required: false)
            mapping.sourceNameFormat = object.uri("sourceNameFormat")
            mapping.target = object.text("target")
            mapping.type = object.choice("type", ["string": .string, "boolean": .boolean, "stringList": .stringList], else: .string)
            if !mapping.target.isEmpty, !CatalogueSyntax.isMetadataKey(mapping.target) {
                object.optional("target")?.problem("must be a metadata key such as 'userID' or 'maxRating.VCHIP'; it is '\(mapping.target)'")
            }
            return mapping
        }
    }

    private func tempPass(_ value: JsonValue) -> TempPass? {
        value.object { object in
            var pass = TempPass()
            pass.kind = object.requiredChoice("kind", ["basic": .basic, "promotional": .promotional]) ?? .basic
            let isPromotional = pass.kind == .promotional
            // A trial of seconds lets an engineer see its end.
            pass.ttlSeconds = object.number("ttl", 1...Self.lifetimes.upperBound, required: true)
            pass.maxResources = object.number("maxResources", 1...1000, required: isPromotional)
            pass.userInformationKey = object.text("userInformationKey", required: isPromotional)
            if !isPromotional, pass.maxResources != 0 || !pass.userInformationKey.isEmpty {
                object.problem("must have maxResources and userInformationKey only when its kind is 'promotional'")
            }
            return pass
        }
    }
}

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
        requestor.privacyURL = object.pageLink("privacyUrl")
        requestor.termsURL = object.pageLink("termsUrl")
        requestor.supportURL = object.pageLink("supportUrl")
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

/// Rules for addresses in a catalogue.
package enum CatalogueURL {
    /// The fault of a URL that Boxoffice or a browser opens; `nil` when it is good.
    ///
    /// Plain HTTP is for this machine only (`PlainHTTP`), so that a provider's stand-in can be used without certificates.
    package static func urlProblem(_ text: String) -> String? {
        if text.contains("${") { return "has a placeholder that was not replaced: '\(text)'" }
        guard text.utf8.count <= 2048, let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host, !host.isEmpty
        else { return "must be an absolute https URL; it is '\(text)'" }
        if parts.user != nil || parts.password != nil { return "must not hold a user or a password" }
        if parts.fragment != nil { return "must not have a fragment" }
        if scheme == "https" || scheme == "http" && PlainHTTP.isAllowed(host) { return nil }
        return "must begin with https:// (http:// is for this machine only); it is '\(text)'"
    }

    /// The fault of the address of a page to which the gateway's own pages link; `nil` when it is good. Nobody but people's browsers opens it, so that
    /// it may have a fragment, and plain HTTP serves nobody.
    package static func pageProblem(_ text: String) -> String? {
        if text.contains("${") { return "has a placeholder that was not replaced: '\(text)'" }
        if text.utf8.count > longestPage { return "must have at most \(longestPage) octets; it has \(text.utf8.count)" }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !noParts.contains($0) }) else {
            return "must have no blanks, quotation marks, '<', '>', '\\' or letters outside ASCII, which are percent-encoded; it is '\(text)'"
        }
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.scheme?.lowercased() == "https" else {
            return "must be the address of a page that begins with https://; it is '\(text)'"
        }
        return parts.user != nil || parts.password != nil ? "must not hold a user or a password" : nil
    }

    private static let longestPage = 2048
    /// `"`, `'`, `<`, `>`, a backslash: none of them has to stand in an address as it is (RFC 3986 §2).
    private static let noParts: Set<UInt8> = [0x22, 0x27, 0x3C, 0x3E, 0x5C]

    /// The fault of an origin whose servers are called by name; `nil` when it is good. It must have scheme, host and port alone, and no address but
    /// this machine's (bridge §14.3).
    package static func originProblem(_ text: String) -> String? {
        if let problem = urlProblem(text) { return problem }
        guard let parts = URLComponents(string: text), let host = parts.host else { return "must be an origin; it is '\(text)'" }
        if !parts.path.isEmpty || parts.query != nil { return "must end after the host or the port; it is '\(text)'" }
        let isAddress = host.utf8.contains(UInt8(ascii: ":")) || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        return isAddress && !PlainHTTP.isAllowed(host) ? "must name a host; it has the address '\(host)'" : nil
    }

    /// The fault of a name in the form of a URI, such as an entity id; `nil` when it is good.
    package static func uriProblem(_ text: String) -> String? {
        if text.contains("${") { return "has a placeholder that was not replaced: '\(text)'" }
        guard text.utf8.count <= 1024, let parts = URLComponents(string: text), parts.scheme != nil else {
            return "must be a URI of at most 1024 bytes; it is '\(text)'"
        }
        return nil
    }
}
