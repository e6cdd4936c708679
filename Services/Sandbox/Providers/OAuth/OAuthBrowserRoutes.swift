internal import SandboxKit
internal import Clocks
internal import Hummingbird

/// The browser's side of an OAuth provider: requests in, login page, codes out.
struct OAuthBrowserRoutes: Sendable {
    private static let largestForm = 64 * 1024
    private static let loginPurpose = "oauth-login"

    let providers: [String: OAuthProvider]
    let clock: any WallClock
    let log: RequestLog
    let pages: Pages
    let homes: HomeNetworks

    func add(to router: Router<SandboxContext>) {
        router.get("/oauth/{mvpd}/authorize") { request, context in
            try receive("authorize", context) { provider in
                try authorize(FormFields(encoded: request.uri.query ?? ""), request, provider, from: context.address)
            }
        }
        router.post("/oauth/{mvpd}/login") { request, context in
            let form = String(buffer: try await request.body.collect(upTo: Self.largestForm))
            return try receive("login", context) { provider in try login(FormFields(encoded: form), provider) }
        }
        router.get("/oauth/{mvpd}/logout") { request, context in
            try receive("logout", context) { provider in try logout(FormFields(encoded: request.uri.query ?? ""), provider) }
        }
        router.post("/oauth/{mvpd}/logout") { request, context in
            let form = String(buffer: try await request.body.collect(upTo: Self.largestForm))
            return try receive("logout", context) { provider in try logout(FormFields(encoded: form), provider) }
        }
    }

    private func receive(_ endpoint: String, _ context: SandboxContext, _ handle: (OAuthProvider) throws -> Response) throws -> Response {
        guard let provider = providers[try context.parameters.require("mvpd")] else { throw HTTPError(.notFound) }
        log.count(endpoint, mvpd: provider.id)
        do {
            return try handle(provider)
        } catch let refusal as RequestRejection {
            log.note(endpoint, mvpd: provider.id, outcome: "refused", fields: ["reason": refusal.code], at: clock.now())
            let values = [
                "mvpd": provider.identity.settings.displayName, "initial": provider.identity.initial, "code": refusal.code,
                "explanation": refusal.explanation,
            ]
            return pages.html("error", values, status: .badRequest)
        }
    }

    private func authorize(_ query: FormFields, _ http: Request, _ provider: OAuthProvider, from address: String) throws -> Response {
        // Nothing goes to an address that is not this client's.
        guard let id = try query.single("client_id"), let client = provider.clients[id], let uri = try query.single("redirect_uri"),
            client.redirectURIs.contains(uri)
        else { throw RequestRejection("oauth.client", "The client is not known, or the redirect_uri is not one of its own.") }
        let state = try query.single("state") ?? ""
        let request = OAuthRequest(
            client: id, redirectURI: uri, state: state, nonce: try query.single("nonce"), challenge: try query.single("code_challenge") ?? "",
            scope: try query.single("scope") ?? "", prompt: try query.single("prompt"), authenticationContext: try query.single("acr_values"))
        guard try query.single("response_type") == "code" else { return fail("unsupported_response_type", request, provider, "authorize") }
        guard try query.single("code_challenge_method") == "S256", request.challenge.utf8.count == 43, !state.isEmpty else {
            return fail("invalid_request", request, provider, "authorize")
        }
        if request.acceptsHome, let name = homes.person(at: address, mvpd: provider.id),
            let person = provider.identity.subscribers.person(named: name)
        {
            return try succeed(person, isHome: true, request, provider, "authorize")
        }
        if request.prompt != "login", let person = OAuthCookie.person(in: http.headers[.cookie], provider, at: clock.now()) {
            return try succeed(person, isHome: false, request, provider, "authorize")
        }
        if request.isSilent { return fail("login_required", request, provider, "authorize") }
        log.note("authorize", mvpd: provider.id, outcome: "login-page", fields: ["client": id], at: clock.now())
        return try loginPage(request, provider)
    }

    private func login(_ form: FormFields, _ provider: OAuthProvider) throws -> Response {
        let now = clock.now()
        guard let state = try form.single("state"),
            let request = provider.identity.seal.open(state, as: OAuthRequest.self, purpose: Self.loginPurpose, at: now)
        else { throw RequestRejection("state.unknown", "This login page is too old. Go back to the app and start again.") }
        if try form.single("action") == "cancel" { return fail("access_denied", request, provider, "login") }
        let name = try form.single("username") ?? ""
        guard let person = provider.identity.subscribers.authenticate(name: name, password: try form.single("password") ?? "") else {
            log.note("login", mvpd: provider.id, outcome: "login-failed", fields: ["client": request.client], at: now)
            return try loginPage(request, provider, failedName: name)
        }
        var response = try succeed(person, isHome: false, request, provider, "login")
        let session = ProviderSession(person: person.name, signedInAt: now, index: RandomIdentifier.next())
        response.headers[.setCookie] = try OAuthCookie.header(session, provider)
        return response
    }

    /// RP-initiated logout: the provider forgets the browser and sends it back.
    private func logout(_ query: FormFields, _ provider: OAuthProvider) throws -> Response {
        guard let id = try query.single("client_id"), provider.clients[id] != nil, let back = try query.single("post_logout_redirect_uri"),
            back.hasPrefix("http://") || back.hasPrefix("https://"), !back.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7f })
        else { throw RequestRejection("oauth.logout", "The client is not known, or there is no address to come back to.") }
        let hint = try query.single("id_token_hint") != nil ? "id_token" : try query.single("logout_hint") ?? "none"
        log.note("logout", mvpd: provider.id, outcome: "signed-out", fields: ["client": id, "hint": hint], at: clock.now())
        let state = try query.single("state").map { [("state", $0)] } ?? []
        var response = redirect(back, state)
        response.headers[.setCookie] = OAuthCookie.removal(provider)
        return response
    }

    private func loginPage(_ request: OAuthRequest, _ provider: OAuthProvider, failedName: String? = nil) throws -> Response {
        let identity = provider.identity
        let state = try identity.seal.close(request, purpose: Self.loginPurpose, until: clock.now() + IdentityProvider.loginLifetime)
        let values: [String: Any] = [
            "mvpd": identity.settings.displayName, "initial": identity.initial, "id": provider.id, "oauth": true, "state": state,
            "issuer": request.client, "people": identity.subscribers.listing, "failed": failedName != nil, "name": failedName ?? "",
        ]
        return pages.html("login", values, status: failedName == nil ? .ok : .unprocessableContent)
    }

    private func succeed(
        _ person: Person, isHome: Bool, _ request: OAuthRequest, _ provider: OAuthProvider, _ endpoint: String
    ) throws -> Response {
        let code = OAuthCode(request: request, person: person.name, isHome: isHome, identifier: RandomIdentifier.next())
        let sealed = try provider.identity.seal.close(code, purpose: "oauth-code", until: clock.now() + OAuthProvider.codeLifetime)
        log.note(endpoint, mvpd: provider.id, outcome: isHome ? "recognised-home" : "signed-in", fields: ["person": person.name], at: clock.now())
        return redirect(request.redirectURI, [("code", sealed), ("state", request.state)] + name(provider))
    }

    private func fail(_ error: String, _ request: OAuthRequest, _ provider: OAuthProvider, _ endpoint: String) -> Response {
        log.note(endpoint, mvpd: provider.id, outcome: error, fields: ["client": request.client], at: clock.now())
        return redirect(request.redirectURI, [("error", error), ("state", request.state)] + name(provider))
    }

    /// `iss` (RFC 9207).
    private func name(_ provider: OAuthProvider) -> [(String, String)] {
        provider.memory.behaviour.sendsIssuer == false ? [] : [("iss", provider.issuer)]
    }

    private func redirect(_ address: String, _ parameters: [(String, String)]) -> Response {
        let query = parameters.map { "\($0.0)=\(FormFields.encoded($0.1))" }.joined(separator: "&")
        let target = query.isEmpty ? address : address + (address.contains("?") ? "&" : "?") + query
        return Response(status: .found, headers: [.location: target, .cacheControl: "no-store"])
    }
}

/// The cookie by which an OAuth provider remembers a person.
enum OAuthCookie {
    private static let purpose = "oauth-session"

    static func header(_ session: ProviderSession, _ provider: OAuthProvider) throws -> String {
        let lifetime = IdentityProvider.sessionLifetime
        let sealed = try provider.identity.seal.close(session, purpose: purpose, until: session.signedInAt + lifetime)
        return "\(name(provider))=\(sealed); Path=/oauth/\(provider.id); Max-Age=\(lifetime.components.seconds); HttpOnly; SameSite=Lax"
    }

    /// Makes the browser forget it.
    static func removal(_ provider: OAuthProvider) -> String { "\(name(provider))=; Path=/oauth/\(provider.id); Max-Age=0; HttpOnly; SameSite=Lax" }

    /// The person that a `Cookie` header names.
    static func person(in header: String?, _ provider: OAuthProvider, at now: Timestamp) -> Person? {
        for pair in (header ?? "").split(separator: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == name(provider),
                let session = provider.identity.seal.open(String(parts[1]), as: ProviderSession.self, purpose: purpose, at: now)
            else { continue }
            return provider.identity.subscribers.person(named: session.person)
        }
        return nil
    }

    private static func name(_ provider: OAuthProvider) -> String { "sandbox-oauth-\(provider.id)" }
}
