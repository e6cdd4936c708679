internal import Clocks
internal import Hummingbird
internal import SandboxKit

/// The browser's side of an identity provider: requests in, login page, answers out.
struct SignInRoutes: Sendable {
    private static let largestForm = 256 * 1024
    private static let loginPurpose = "login"

    let providers: [String: IdentityProvider]
    let clock: any WallClock
    let log: RequestLog
    let pages: Pages
    let homes: HomeNetworks
    let evil: EvilMode

    func add(to router: Router<SandboxContext>) {
        router.get("/saml/{mvpd}/metadata") { _, context in try metadata(context) }
        router.get("/saml/{mvpd}/sso") { request, context in
            try await receive("sso", context) { provider in
                try answer(provider.reader.redirect(query: request.uri.query ?? "", at: clock.now()), request, context, provider)
            }
        }
        router.post("/saml/{mvpd}/sso") { request, context in
            try await receive("sso", context) { provider in
                let form = try await Self.form(request)
                return try answer(provider.reader.post(form: form, at: clock.now()), request, context, provider)
            }
        }
        router.post("/saml/{mvpd}/login") { request, context in
            try await receive("login", context) { provider in try await login(FormFields(encoded: Self.form(request)), provider) }
        }
    }

    private func metadata(_ context: SandboxContext) throws -> Response {
        let provider = try provider(context)
        log.count("metadata", mvpd: provider.id)
        let body = ByteBuffer(string: ProviderMetadata(provider: provider).serialized())
        return Response(status: .ok, headers: [.contentType: "application/samlmetadata+xml"], body: ResponseBody(byteBuffer: body))
    }

    private func provider(_ context: SandboxContext) throws -> IdentityProvider {
        guard let provider = providers[try context.parameters.require("mvpd")] else { throw HTTPError(.notFound) }
        return provider
    }

    /// Turns a refusal into the error page.
    private func receive(
        _ endpoint: String, _ context: SandboxContext, _ handle: (IdentityProvider) async throws -> Response
    ) async throws -> Response {
        let provider = try provider(context)
        log.count(endpoint, mvpd: provider.id)
        do {
            return try await handle(provider)
        } catch let refusal as RequestRejection {
            note(endpoint, provider, "refused", ["reason": refusal.code])
            let values = [
                "mvpd": provider.settings.displayName, "initial": provider.initial, "code": refusal.code, "explanation": refusal.explanation,
            ]
            return pages.html("error", values, status: .badRequest)
        }
    }

    private func answer(
        _ request: AuthnRequest, _ http: Request, _ context: SandboxContext, _ provider: IdentityProvider
    ) throws -> Response {
        guard let format = NameIDFormat(requested: request.nameIDFormat) else { return try fail(.invalidNameIDPolicy, request, provider, "sso") }
        let cookie = http.headers[.cookie].flatMap { SessionCookie.value(in: $0, of: provider.id) }
        if !request.forceAuthn, let session = cookie.flatMap({ SessionCookie.session($0, provider, at: clock.now()) }),
            let person = provider.subscribers.person(named: session.person)
        {
            return try succeed(person, session, format, request, provider, "sso")
        }
        if !request.forceAuthn, let person = homes.person(at: context.address, mvpd: provider.id).flatMap(provider.subscribers.person(named:)) {
            let session = ProviderSession(person: person.name, signedInAt: clock.now(), index: RandomIdentifier.next(), isHomeBased: true)
            return try succeed(person, session, format, request, provider, "sso")
        }
        if request.isPassive { return try fail(.noPassive, request, provider, "sso") }
        note("sso", provider, "login-page", fields(of: request))
        return try loginPage(request, provider)
    }

    private func login(_ fields: FormFields, _ provider: IdentityProvider) throws -> Response {
        let now = clock.now()
        guard let state = try fields.single("state"),
            let request = provider.seal.open(state, as: AuthnRequest.self, purpose: Self.loginPurpose, at: now),
            let format = NameIDFormat(requested: request.nameIDFormat)
        else { throw RequestRejection("state.unknown", "This login page is too old. Go back to the app and start again.") }
        if try fields.single("action") == "cancel" { return try fail(.authnFailed, request, provider, "login") }
        let name = try fields.single("username") ?? ""
        // A program that submits every form it gets sends no name at first.
        let isFilledIn = try ["username", "password", "action"].contains { try fields.single($0)?.isEmpty == false }
        guard isFilledIn else { return try loginPage(request, provider) }
        guard let person = provider.subscribers.authenticate(name: name, password: try fields.single("password") ?? "") else {
            note("login", provider, "login-failed", self.fields(of: request))
            return try loginPage(request, provider, failedName: name)
        }
        let session = ProviderSession(person: person.name, signedInAt: now, index: RandomIdentifier.next())
        var response = try succeed(person, session, format, request, provider, "login")
        response.headers[.setCookie] = try SessionCookie.header(session, provider)
        return response
    }

    private func loginPage(_ request: AuthnRequest, _ provider: IdentityProvider, failedName: String? = nil) throws -> Response {
        let state = try provider.seal.close(request, purpose: Self.loginPurpose, until: clock.now() + IdentityProvider.loginLifetime)
        var values: [String: Any] = [
            "mvpd": provider.settings.displayName, "initial": provider.initial, "id": provider.id, "state": state, "issuer": request.issuer,
            "people": provider.subscribers.listing, "failed": failedName != nil, "name": failedName ?? "",
        ]
        if let requestor = request.requestor { values["requestor"] = requestor }
        if !request.providers.isEmpty { values["providers"] = request.providers.joined(separator: ", ") }
        return pages.html("login", values, status: failedName == nil ? .ok : .unprocessableContent)
    }

    private func succeed(
        _ person: Person, _ session: ProviderSession, _ format: NameIDFormat, _ request: AuthnRequest, _ provider: IdentityProvider,
        _ endpoint: String
    ) throws -> Response {
        note(endpoint, provider, "signed-in", fields(of: request).merging(["person": person.name]) { $1 })
        return try deliver(try response(to: request, provider).success(person, session: session, format: format), request, provider)
    }

    private func fail(_ status: SamlStatus, _ request: AuthnRequest, _ provider: IdentityProvider, _ endpoint: String) throws -> Response {
        note(endpoint, provider, status.rawValue, fields(of: request))
        return try deliver(try response(to: request, provider).failure(status), request, provider)
    }

    private func response(to request: AuthnRequest, _ provider: IdentityProvider) -> SamlResponse {
        SamlResponse(provider: provider, request: request, now: clock.now())
    }

    /// The page that carries an answer to the service provider by a form (SAML bindings §3.5.4).
    private func deliver(_ answer: String, _ request: AuthnRequest, _ provider: IdentityProvider) throws -> Response {
        var values: [String: Any] = [
            "mvpd": provider.settings.displayName, "initial": provider.initial, "acs": provider.serviceProvider.acsURL,
            "field": "SAMLResponse",
            "response": try field(answer, provider),
        ]
        if let relayState = request.relayState { values["relayState"] = ["value": relayState] }
        return pages.html("response", values)
    }

    /// The encoded answer, or what evil mode makes of it.
    private func field(_ answer: String, _ provider: IdentityProvider) throws -> String {
        guard let attack = evil.take(for: provider.id) else { return Base64.text(Array(answer.utf8)) }
        let stranger = providers.values.first { $0.id != provider.id && $0.settings.encryptAssertion != provider.settings.encryptAssertion }
        let genuine = GenuineAnswer(text: answer, provider: provider, stranger: stranger)
        return try genuine.attacked(by: attack, at: clock.now(), canary: provider.ssoURL.replacing("/sso", with: "/metadata"))
    }

    private func note(_ endpoint: String, _ provider: IdentityProvider, _ outcome: String, _ fields: [String: String]) {
        log.note(endpoint, mvpd: provider.id, outcome: outcome, fields: fields, at: clock.now())
    }

    private func fields(of request: AuthnRequest) -> [String: String] {
        ["issuer": request.issuer, "requestor": request.requestor ?? "", "request": request.identifier]
    }

    private static func form(_ request: Request) async throws -> String {
        String(buffer: try await request.body.collect(upTo: largestForm))
    }
}

/// The answer to a request, as text for the HTTP POST binding.
struct SamlResponse {
    let provider: IdentityProvider
    let request: AuthnRequest
    let now: Timestamp
    /// The attributes that were asked for; nil: all.
    var attributeNames: Set<String>?
    /// True when the assertion is written with line breaks.
    var breaksLines = false

    /// The answer for a person who signed in.
    func success(_ person: Person, session: ProviderSession, format: NameIDFormat) throws(XmlRejection) -> String {
        let assertion = Assertion(
            provider: provider, request: request, person: person, session: session, format: format, now: now,
            attributeNames: attributeNames, breaksLines: breaksLines
        )
        var text = try assertion.serialized()
        if provider.settings.encryptAssertion {
            guard let recipient = provider.serviceProvider.encryptionCertificate else { throw XmlRejection(reason: "no encryption certificate") }
            text = try XmlEncryption.encryptedAssertion(text, to: recipient)
        }
        return try serialized(status: .element("samlp:StatusCode", ["Value": SamlStatus.success]), message: nil, assertion: .written(text))
    }

    /// The answer when the sign-in failed or was cancelled.
    func failure(_ status: SamlStatus) throws(XmlRejection) -> String {
        let code = XmlNode.element(
            "samlp:StatusCode", ["Value": status.topLevel],
            [
                .element("samlp:StatusCode", ["Value": status.secondLevel])
            ])
        return try serialized(status: code, message: status.message, assertion: nil)
    }

    private func serialized(status: XmlNode, message: String?, assertion: XmlNode?) throws(XmlRejection) -> String {
        let identifier = RandomIdentifier.next()
        let signs = provider.settings.signResponse
        let attributes: KeyValuePairs<String, String?> = [
            "xmlns:samlp": XmlNames.protocol, "xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0",
            "IssueInstant": Instant.text(now), "Destination": provider.serviceProvider.acsURL, "InResponseTo": request.identifier,
        ]
        var children: [XmlNode] = [.element("saml:Issuer", [:], [.text(request.proxiedProvider ?? provider.settings.entityID)])]
        if signs { children.append(XmlSignature.template(identifier: identifier, certificate: provider.certificate)) }
        let statusMessage = message.map { XmlNode.element("samlp:StatusMessage", [:], [.text($0)]) }
        children.append(.element("samlp:Status", [:], [status] + (statusMessage.map { [$0] } ?? [])))
        if let assertion { children.append(assertion) }
        let text = XmlNode.element("samlp:Response", attributes, children).serialized()
        return signs ? try XmlSignature.sign(text, identifier: identifier, key: provider.key) : text
    }
}

/// The top-level and second-level status codes of a SAML answer without assertion (SAML core §3.2.2.2).
enum SamlStatus: String, Sendable {
    case authnFailed = "AuthnFailed"
    case noPassive = "NoPassive"
    case invalidNameIDPolicy = "InvalidNameIDPolicy"

    private static let prefix = "urn:oasis:names:tc:SAML:2.0:status:"
    static let success = prefix + "Success"

    var topLevel: String { Self.prefix + (self == .invalidNameIDPolicy ? "Requester" : "Responder") }
    var secondLevel: String { Self.prefix + rawValue }

    var message: String {
        switch self {
        case .authnFailed: "The person did not sign in"
        case .noPassive: "Nobody is signed in, and the request forbids to ask"
        case .invalidNameIDPolicy: "This kind of name identifier is not offered"
        }
    }
}
