package import Clocks
internal import Contracts
internal import Cryptography
package import GatewayEdge
package import OutboundHttp
internal import TextEncodings
internal import Tokens

/// The identity provider of administrators (OpenID Connect Core §3.1, Discovery): what it publishes is remembered, and nothing of persons.
package actor OpenIDProvider {
    /// All calls of one step together.
    private static let budget = Duration.seconds(5)
    /// The time after which the provider's documents are read again.
    private static let refresh = Duration.seconds(3600)
    /// Between two reads for names of keys that are not in the set.
    private static let patience = Duration.seconds(30)
    /// Between two reads because of a signature that failed: strangers can cause them.
    private static let pause = Duration.seconds(60)
    /// Steps at once; strangers can begin some.
    private static let most = 16

    private struct Kept<Value: Sendable>: Sendable {
        let value: Value
        let readAt: Timestamp
    }

    nonisolated let settings: OpenIDSettings
    private let secret: @Sendable () throws -> String
    private let transport: any OutboundTransport
    private let clock: any WallClock
    private var endpoints: Kept<ProviderEndpoints>?
    private var keys: Kept<JSONWebKeySet>?
    private var soughtAt: Timestamp?
    /// The last read because of a signature that failed.
    private var doubtedAt: Timestamp?
    private var steps = 0

    /// - Parameters:
    ///   - secret: Reads the client's secret, for each sign-in anew: a new one needs no restart.
    ///   - transport: Bounds the length of answers.
    package init(
        settings: OpenIDSettings, secret: @escaping @Sendable () throws -> String, transport: any OutboundTransport, clock: any WallClock
    ) {
        self.settings = settings
        self.secret = secret
        self.transport = transport
        self.clock = clock
    }

    /// Returns where a browser goes to sign in.
    func address(_ proof: ProviderProof) async throws(ProviderRejection) -> String {
        let endpoints = try await step { (end) throws(ProviderRejection) in try await self.published(end) }
        let parameters = [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", settings.redirectURI),
            ("scope", settings.scopes.joined(separator: " ")), ("state", proof.state), ("nonce", proof.nonce), ("code_challenge", proof.challenge),
            ("code_challenge_method", "S256"),
        ]
        return endpoints.authorize + (endpoints.authorize.contains("?") ? "&" : "?") + FormEncoding.encode(parameters)
    }

    /// A code for the person who signed in.
    func person(_ code: String, _ proof: ProviderProof) async throws(ProviderRejection) -> SignedInPerson {
        try await step { (end) throws(ProviderRejection) in
            let endpoints = try await self.published(end)
            let token = try await self.redeem(code, proof, at: endpoints.token, end)
            let verified = try await self.verified(token, proof, keysAt: endpoints.keys, end)
            guard let claims = ProviderClaims(json: verified.claims) else { throw ProviderRejection(TokenRejection.malformed) }
            return try ProviderMapping(settings: self.settings).person(claims, subject: verified.subject)
        }
    }

    /// By the keys at hand, and where none of them fits by those that the provider has now.
    private func verified(
        _ token: String, _ proof: ProviderProof, keysAt url: String, _ end: ContinuousClock.Instant
    ) async throws(ProviderRejection) -> VerifiedIdentityToken {
        func verify(_ keys: JSONWebKeySet) throws(TokenRejection) -> VerifiedIdentityToken {
            let verifier = IdentityTokenVerifier(
                issuer: settings.issuer, clientID: settings.clientID, nonce: proof.nonce, keys: keys, clockSkew: 60)
            return try verifier.verify(token, now: clock.now())
        }
        let keys = try await keys(for: IdentityTokenVerifier.claimedKey(of: token), at: url, end)
        do throws(TokenRejection) {
            return try verify(keys)
        } catch {
            let now = clock.now()
            let isSoon = doubtedAt.map { now >= $0 && now < $0 + Self.pause } ?? false
            guard IdentityTokenVerifier.mayBeOfNewerKey(token, error), !isSoon else { throw ProviderRejection(error) }
            doubtedAt = now
            self.keys = self.keys.map { Kept(value: $0.value, readAt: now - Self.refresh) }
            let newer = try await self.keys(for: nil, at: url, end)
            do throws(TokenRejection) { return try verify(newer) } catch { throw ProviderRejection(error) }
        }
    }

    private func step<Value: Sendable>(
        _ body: (ContinuousClock.Instant) async throws(ProviderRejection) -> Value
    ) async throws(ProviderRejection) -> Value {
        guard steps < Self.most else { throw ProviderRejection(.away, "busy") }
        steps += 1
        defer { steps -= 1 }
        return try await body(.now + Self.budget)
    }

    private func published(_ end: ContinuousClock.Instant) async throws(ProviderRejection) -> ProviderEndpoints {
        let now = clock.now()
        if let kept = endpoints, now < kept.readAt + Self.refresh { return kept.value }
        do throws(ProviderRejection) {
            let base = settings.issuer.hasSuffix("/") ? String(settings.issuer.dropLast()) : settings.issuer
            let answer = try await send("discovery", OutboundRequest(.get, base + "/.well-known/openid-configuration", headers: Self.json), end)
            let read = try ProviderEndpoints(answer, issuer: settings.issuer)
            endpoints = Kept(value: read, readAt: now)
            return read
        } catch {
            // While it is away, what it said last is still so.
            if error.kind == .away, let kept = endpoints { return kept.value }
            throw error
        }
    }

    private func redeem(
        _ code: String, _ proof: ProviderProof, at url: String, _ end: ContinuousClock.Instant
    ) async throws(ProviderRejection) -> String {
        guard let secret = try? secret().trimmed, !secret.isEmpty else {
            throw ProviderRejection(.misconfigured, "secret", "The gateway cannot read gateway.admin.openIDConnect.clientSecretFile.")
        }
        var headers = Self.json + [("content-type", "application/x-www-form-urlencoded")]
        var body = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", settings.redirectURI), ("code_verifier", proof.verifier),
        ]
        switch settings.clientAuthentication {
        case .basic:
            let pair = FormEncoding.encode(settings.clientID) + ":" + FormEncoding.encode(secret)
            headers.append(("authorization", "Basic " + Base64.standard.encode(Array(pair.utf8))))
        case .post: body += [("client_id", settings.clientID), ("client_secret", secret)]
        }
        let request = OutboundRequest(.post, url, headers: headers, body: Array(FormEncoding.encode(body).utf8))
        let answer = try await send("token", request, end)
        guard let members = ProviderClaims(json: answer.body) else {
            throw ProviderRejection(.unacceptable, "token.form", "The token endpoint answered with status \(answer.status) and no JSON object.")
        }
        guard answer.isDocument else {
            let error = members.text("error").map { $0.filter { $0.isASCII && ($0.isLetter || $0 == "_") }.prefix(40) } ?? "no reason"
            let kind: ProviderRejection.Kind = error == "invalid_grant" ? .stale : .misconfigured
            throw ProviderRejection(kind, "token.refused", "The token endpoint refused: \(error).")
        }
        guard let token = members.text("id_token") else {
            throw ProviderRejection(.unacceptable, "token.absent", "The token endpoint sent no identity token; the scope openid must be granted.")
        }
        return token
    }

    /// A key that is not in the set may be new: it is looked for once in half a minute.
    private func keys(for name: String?, at url: String, _ end: ContinuousClock.Instant) async throws(ProviderRejection) -> JSONWebKeySet {
        let now = clock.now()
        if let kept = keys, now < kept.readAt + Self.refresh {
            if name.map({ kept.value.key($0) != nil }) ?? true { return kept.value }
            if let soughtAt, now < soughtAt + Self.patience { return kept.value }
            soughtAt = now
        }
        do throws(ProviderRejection) {
            let answer = try await send("jwks", OutboundRequest(.get, url, headers: Self.json), end)
            guard answer.isDocument, let read = try? JSONWebKeySet(published: answer.body) else {
                throw ProviderRejection(
                    .unacceptable, "jwks.form", "The address of the keys answered with status \(answer.status), or with no key set.")
            }
            guard !read.keys.isEmpty else {
                throw ProviderRejection(
                    .unacceptable, "jwks.keys",
                    "No key of the provider's set can be used: it needs an RSA key of 2048 bits at least, or one on P-256, for signatures.")
            }
            keys = Kept(value: read, readAt: now)
            return read
        } catch {
            if error.kind == .away, let kept = keys { return kept.value }
            throw error
        }
    }

    private static let json = [("accept", "application/json")]

    private func send(
        _ endpoint: String, _ request: OutboundRequest, _ end: ContinuousClock.Instant
    ) async throws(ProviderRejection) -> OutboundAnswer {
        let route = OutboundRoute(peer: "administrators", connectTimeout: .seconds(1), responseTimeout: .seconds(3), connections: 4)
        do throws(OutboundFailure) {
            return try await transport.send(request, by: route, timeLeft: max(.zero, end - .now))
        } catch {
            throw ProviderRejection(endpoint, error)
        }
    }
}

/// The content of a discovery document, as far as it is needed (OpenID Connect Discovery §4.2).
struct ProviderEndpoints: Sendable {
    let authorize: String
    let token: String
    let keys: String

    /// - Throws: `unacceptable` when it is not one, is another issuer's, or leads to an address without HTTPS.
    init(_ answer: OutboundAnswer, issuer: String) throws(ProviderRejection) {
        guard answer.isDocument, let members = ProviderClaims(json: answer.body) else {
            throw ProviderRejection(.unacceptable, "discovery.form", "The discovery document has status \(answer.status), or is no JSON object.")
        }
        guard members.text("issuer") == issuer else {
            throw ProviderRejection(
                .unacceptable, "discovery.issuer", "The discovery document is another issuer's; compare it with the setting, octet by octet.")
        }
        func address(_ name: String) throws(ProviderRejection) -> String {
            guard let url = members.text(name), OpenIDSettings.isSafe(url) else {
                throw ProviderRejection(.unacceptable, "discovery.\(name)", "The discovery document has no \(name) with https.")
            }
            return url
        }
        authorize = try address("authorization_endpoint")
        token = try address("token_endpoint")
        keys = try address("jwks_uri")
    }
}
