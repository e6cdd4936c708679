internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Hummingbird
internal import ServiceLifecycle

/// The routes that an application calls at an OAuth provider: tokens, profile and keys.
struct OAuthRoutes: Sendable {
    private static let largestForm = 64 * 1024

    let providers: [String: OAuthProvider]
    let clock: any WallClock
    let log: RequestLog

    func add(to router: Router<SandboxContext>) {
        router.post("/oauth/{mvpd}/token") { request, context in
            try await behave("token", request, context) { provider, body in
                let octets = Array(buffer: try await body.collect(upTo: Self.largestForm))
                return try token(FormFields(encoded: String(decoding: octets, as: UTF8.self)), request, provider)
            }
        }
        router.get("/oauth/{mvpd}/userinfo") { request, context in
            try await behave("userinfo", request, context) { provider, _ in try profile(request, provider) }
        }
        router.get("/oauth/{mvpd}/jwks") { request, context in
            try await behave("jwks", request, context) { provider, _ in Self.json(#"{"keys":[\#(provider.currentKey.jwk)]}"#) }
        }
    }

    /// Misbehaves at the endpoints that tests chose.
    private func behave(
        _ endpoint: String, _ request: Request, _ context: SandboxContext,
        _ answer: @escaping @Sendable (OAuthProvider, RequestBody) async throws -> Response
    ) async throws -> Response {
        guard let provider = providers[try context.parameters.require("mvpd")] else { throw HTTPError(.notFound) }
        log.count(endpoint, mvpd: provider.id)
        switch provider.memory.behaviour.mode(at: endpoint) {
        case .none:
            do {
                return try await answer(provider, request.body)
            } catch is RequestRejection {
                return refused("invalid_request", provider)
            }
        case .error: return Response(status: .internalServerError)
        case .malformed: return Self.json(#"{"access_token":"#)
        case .hang:
            return try await cancelWhenGracefulShutdown {
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    try await Task.sleep(for: .seconds(86_400))
                    return Response(status: .internalServerError)
                }
            }
        }
    }

    private func token(_ form: FormFields, _ request: Request, _ provider: OAuthProvider) throws -> Response {
        guard let client = try client(form, request, provider) else { return refused("invalid_client", provider, .unauthorized) }
        let tokens = OAuthTokens(provider: provider, now: clock.now())
        switch try form.single("grant_type") {
        case "authorization_code":
            guard let code = try redeemed(form, client: client, provider), provider.memory.use(code) else {
                return refused("invalid_grant", provider)
            }
            note("token", provider, "code-redeemed", ["person": code.person])
            return try Self.json(tokens.answer(to: code))
        case "refresh_token":
            let sealed = try form.single("refresh_token") ?? ""
            let grant = provider.identity.seal.open(sealed, as: OAuthGrant.self, purpose: "oauth-refresh", at: clock.now())
            guard let grant, grant.client == client, let answer = try tokens.answer(to: grant) else { return refused("invalid_grant", provider) }
            note("token", provider, "refreshed", ["person": grant.person])
            return try Self.json(answer)
        default: return refused("unsupported_grant_type", provider)
        }
    }

    /// By the header or by the form, never by both (RFC 6749 §2.3).
    private func client(_ form: FormFields, _ request: Request, _ provider: OAuthProvider) throws -> String? {
        var id = try form.single("client_id")
        var secret = try form.single("client_secret")
        if let header = request.headers[.authorization], header.lowercased().hasPrefix("basic ") {
            guard secret == nil, let octets = Base64.octets(String(header.dropFirst(6))) else { return nil }
            let parts = String(decoding: octets, as: UTF8.self).split(separator: ":", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
            guard parts.count == 2, id == nil || id == parts[0] else { return nil }
            (id, secret) = (parts[0], parts[1])
        }
        guard let id, let secret, provider.client(id, secret: secret) != nil else { return nil }
        return id
    }

    /// The code, if it is this client's, and address and verifier are those of its request (RFC 7636 §4.6).
    private func redeemed(_ form: FormFields, client: String, _ provider: OAuthProvider) throws -> OAuthCode? {
        let sealed = try form.single("code") ?? ""
        guard let code = provider.identity.seal.open(sealed, as: OAuthCode.self, purpose: "oauth-code", at: clock.now()),
            let verifier = try form.single("code_verifier"), (43...128).contains(verifier.utf8.count)
        else { return nil }
        let challenge = Base64.urlText(Digest.sha256(Array(verifier.utf8)))
        let isRight = code.request.client == client && code.request.challenge == challenge
        return try isRight && form.single("redirect_uri") == code.request.redirectURI ? code : nil
    }

    private func profile(_ request: Request, _ provider: OAuthProvider) throws -> Response {
        guard let grant = provider.grant(bearer: request.headers[.authorization], at: clock.now()),
            let person = provider.identity.subscribers.person(named: grant.person)
        else {
            note("userinfo", provider, "refused")
            return Response(status: .unauthorized, headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])
        }
        note("userinfo", provider, "told", ["person": grant.person])
        let tokens = OAuthTokens(provider: provider, now: clock.now())
        return try Self.json(tokens.claims(of: person, isHome: grant.isHome))
    }

    private func refused(_ error: String, _ provider: OAuthProvider, _ status: HTTPResponse.Status = .badRequest) -> Response {
        note("token", provider, "refused", ["reason": error])
        return Self.json(#"{"error":"\#(error)"}"#, status)
    }

    private func note(_ endpoint: String, _ provider: OAuthProvider, _ outcome: String, _ fields: [String: String] = [:]) {
        log.note(endpoint, mvpd: provider.id, outcome: outcome, fields: fields, at: clock.now())
    }

    private static func json(_ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return json(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    private static func json(_ text: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
