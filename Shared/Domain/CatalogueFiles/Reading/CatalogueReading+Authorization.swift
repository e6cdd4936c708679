internal import Contracts
internal import StrictJson

extension CatalogueReading {
    private static let protocols: KeyValuePairs<String, AuthorizationProtocol> = [
        "none": .none, "xacmlJson": .xacmlJson, "xacmlXml": .xacmlXml, "xacmlSoap": .xacmlSoap, "restMrss": .restMrss,
    ]
    private static let strategies: KeyValuePairs<String, PreflightStrategy> = [
        "multiChannel": .multiChannel, "lineup": .lineup, "forkJoin": .forkJoin,
    ]
    /// Milliseconds.
    private static let timeouts: ClosedRange<UInt32> = 10...60_000

    func authorization(_ object: JsonObject, of mvpd: Mvpd) -> AuthorizationEndpoint? {
        if case .tempPass = mvpd.signIn {
            object.optional("authorization")?.problem("must not be there: a TempPass decides without an MVPD")
            return nil
        }
        return object.required("authorization")?.object { endpoint($0, of: mvpd) }
    }

    private func endpoint(_ object: JsonObject, of mvpd: Mvpd) -> AuthorizationEndpoint {
        var endpoint = AuthorizationEndpoint()
        let name = object.requiredChoice("protocol", Self.protocols)
        endpoint.protocol = name ?? .none
        let isAsked = name != nil && name != AuthorizationProtocol.none
        endpoint.url = object.url("url", required: isAsked)
        if name == AuthorizationProtocol.none, !endpoint.url.isEmpty { object.optional("url")?.problem("has no meaning with the protocol 'none'") }
        readConnection(object, &endpoint)
        readQuestions(object, &endpoint)
        readPreflight(object, &endpoint)
        readAuthentication(object, &endpoint, mvpd)
        readSoap(object, &endpoint, mvpd)
        endpoint.names = object.optional("names")?.object(decisionNames)
        endpoint.denialReasons = denialReasons(object)
        return endpoint
    }

    private func readConnection(_ object: JsonObject, _ endpoint: inout AuthorizationEndpoint) {
        endpoint.trustAnchors = object.optional("trustAnchors")?.array(certificates.certificate) ?? []
        endpoint.clientCertificate = object.text("clientCertificate", required: false)
        for name in ["trustAnchors", "clientCertificate"] where endpoint.url.lowercased().hasPrefix("http:") {
            object.optional(name)?.problem("has no meaning without TLS: the url begins with http://")
        }
        endpoint.connectTimeoutMilliseconds = object.number("connectTimeoutMs", Self.timeouts)
        endpoint.responseTimeoutMilliseconds = object.number("responseTimeoutMs", Self.timeouts)
        endpoint.totalTimeoutMilliseconds = object.number("totalTimeoutMs", Self.timeouts)
        endpoint.maxCallsInFlight = object.number("maxCallsInFlight", 1...10_000)
        endpoint.proxiedMvpdHeader = object.text("proxiedMvpdHeader", required: false)
        if let problem = Self.headerProblem(endpoint.proxiedMvpdHeader) { object.optional("proxiedMvpdHeader")?.problem(problem) }
    }

    /// The headers of the call itself are not free for other use.
    private static func headerProblem(_ name: String) -> String? {
        let marks = "!#$%&'*+-.^_`|~"
        guard
            name.unicodeScalars.allSatisfy({
                $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || marks.unicodeScalars.contains($0))
            })
        else { return "must be the name of an HTTP header; it is '\(name)'" }
        let taken: Set = ["accept", "authorization", "connection", "content-length", "content-type", "host", "soapaction", "transfer-encoding"]
        return taken.contains(name.lowercased()) ? "must be a header that the call itself does not use; it is '\(name)'" : nil
    }

    private func readQuestions(_ object: JsonObject, _ endpoint: inout AuthorizationEndpoint) {
        endpoint.ipAttributeID = object.uri("ipAttributeId")
        endpoint.ipDataType = object.uri("ipDataType")
        endpoint.omitIP = object.flag("omitIp")
        endpoint.userAgentAttributeID = object.uri("userAgentAttributeId")
        endpoint.userAgentDataType = object.uri("userAgentDataType")
        endpoint.deviceAttributeID = object.uri("deviceAttributeId")
        endpoint.resourceDataType = object.uri("resourceDataType")
        endpoint.subjectAsToken = object.flag("subjectAsToken")
        endpoint.omitSubject = object.flag("omitSubject")
        endpoint.channelOnly = object.flag("channelOnly")
        endpoint.resourceForm = object.choice("resourceForm", ["attributes": .attributes, "mediaRss": .mediaRss], else: .attributes)
        if endpoint.omitIP, !endpoint.ipAttributeID.isEmpty { object.optional("ipAttributeId")?.problem("has no meaning with omitIp") }
        if endpoint.protocol == .restMrss {
            for name in ["subjectAsToken", "omitSubject", "resourceForm", "names", "ipAttributeId", "userAgentAttributeId", "deviceAttributeId"] {
                object.optional(name)?.problem("has no meaning with the protocol 'restMrss', whose parameters are fixed")
            }
        }
    }

    private func readPreflight(_ object: JsonObject, _ endpoint: inout AuthorizationEndpoint) {
        let takesOne = endpoint.protocol == .restMrss
        endpoint.preflightStrategy = object.choice("preflightStrategy", Self.strategies, else: takesOne ? .forkJoin : .multiChannel)
        if takesOne, endpoint.preflightStrategy == .multiChannel {
            object.optional("preflightStrategy")?.problem("must be 'lineup' or 'forkJoin': a call of 'restMrss' carries one resource")
        }
        endpoint.preflightMaxResources = object.number("preflightMaxResources", Self.preflightLimits)
        endpoint.preflightFallback = object.flag("preflightFallback")
        if endpoint.preflightFallback, endpoint.preflightStrategy != .multiChannel {
            object.optional("preflightFallback")?.problem("has a meaning with the strategy 'multiChannel' only")
        }
    }

    private func readAuthentication(_ object: JsonObject, _ endpoint: inout AuthorizationEndpoint, _ mvpd: Mvpd) {
        endpoint.queryAuthentication = object.choice(
            "queryAuthentication", ["standard": .standard, "bearer": .bearer, "none": .none], else: .standard)
        let isOAuth = if case .oauth = mvpd.signIn { true } else { false }
        if endpoint.queryAuthentication == .bearer, !isOAuth {
            object.optional("queryAuthentication")?.problem("must not be 'bearer': only an OAuth sign-in gives access tokens")
        }
        if endpoint.omitSubject, endpoint.queryAuthentication != .bearer {
            object.optional("omitSubject")?.problem("has a meaning with the queryAuthentication 'bearer' only")
        }
    }

    private static let reasonCodes: Set = [
        "identity_not_recognized_by_mvpd", "authorization_denied_by_hba_policies", "authorization_denied_by_session_invalidated",
        "authorization_denied_by_parental_controls", "authorization_denied_by_mvpd",
    ]

    private func denialReasons(_ object: JsonObject) -> [DenialReason] {
        var seen: Set<OctetText> = []
        return object.optional("denialReasons")?.array { value in
            value.object { object in
                let reason = DenialReason(reason: object.text("reason"), code: object.text("code"))
                if !reason.code.isEmpty, !Self.reasonCodes.contains(reason.code) {
                    object.optional("code")?.problem("must be one of \(Self.reasonCodes.sorted().joined(separator: ", ")); it is '\(reason.code)'")
                }
                if !seen.insert(reason.reason.lowercased().filter { !" -_".contains($0) }).inserted {
                    object.optional("reason")?.problem("is there twice; letter case, blanks, '-' and '_' are alike")
                }
                return reason
            }
        } ?? []
    }
}

/// Identities that apps bring along from another house (clients §2, §2.1): key pairs, statements, clients.
extension CatalogueReading {
    func readIdentities(_ object: JsonObject, _ application: inout Application) {
        let owner = application.id
        let requestors = application.requestorIDs
        application.signingKeys = object.optional("signingKeys")?.array { signingKey($0, of: owner, requestors) } ?? []
        application.legacyStatements = object.texts("legacyStatements") { digest in
            guard digest.utf8.count == 64, digest.utf8.allSatisfy({ CatalogueSyntax.isHexDigit($0) && !(0x41...0x46).contains($0) }) else {
                return "must be the SHA-256 of a statement, 64 lower-case hex digits"
            }
            return taken(digest, by: owner)
        }
        application.clients = object.optional("clients")?.array { importedClient($0, of: owner) } ?? []
    }

    private func signingKey(_ value: JsonValue, of owner: String, _ requestors: [String]) -> RequestSigningKey? {
        value.object { object in
            var key = RequestSigningKey()
            key.publicKey = object.text("publicKey")
            let isPlain = (8...64).contains(key.publicKey.utf8.count) && key.publicKey.utf8.allSatisfy(CatalogueSyntax.isLetterOrDigit)
            if !key.publicKey.isEmpty, let field = object.optional("publicKey") {
                if !isPlain { field.problem("must have 8 to 64 letters and digits") }
                if let problem = taken(key.publicKey, by: owner) { field.problem(problem) }
            }
            key.secretReference = identitySecret(object)
            key.requestorIDs = object.texts("requestors", required: true) { id in
                requestors.contains(id) ? nil : "names the requestor '\(id)', for which the application may not act"
            }
            key.disabled = !object.flag("enabled", else: true)
            key.strict = object.flag("strict")
            key.windowSeconds = object.number("window", 1...86_400)
            key.fromMilliseconds = object.date("from")
            key.untilMilliseconds = object.date("until")
            return key
        }
    }

    private func importedClient(_ value: JsonValue, of owner: String) -> ImportedClient? {
        value.object { object in
            var client = ImportedClient()
            client.clientID = object.text("clientId")
            if !client.clientID.isEmpty, let field = object.optional("clientId") {
                if client.clientID.utf8.count > 128 || !client.clientID.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) {
                    field.problem("must have 1 to 128 printable characters")
                }
                if let problem = taken(client.clientID, by: owner) { field.problem(problem) }
            }
            client.secretReference = identitySecret(object)
            return client
        }
    }

    /// Each identity stands once in all applications: its bearer is known by it.
    private func taken(_ identity: String, by owner: String) -> String? {
        if let first = identities[identity] {
            return namesOthers ? "is '\(identity)', which the application '\(first)' has already" : "is '\(identity)', which is taken"
        }
        identities[identity] = owner
        return nil
    }

    private func identitySecret(_ object: JsonObject) -> String { secretReference(object, "secret", required: true) }
}
