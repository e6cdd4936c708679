package import AuthenticationCore
internal import Clocks
internal import Contracts
internal import Cryptography
package import Faults
package import Logging
package import OutboundHttp
internal import StrictJson
internal import Synchronization
internal import TextEncodings
package import Tokens

/// The calls that this service makes at an MVPD (mvpd §3). Each is tried once: codes and rotated tokens are good for one use.
package struct ProviderClient: Sendable {
    package let transport: any OutboundTransport
    package let gate: ProviderGate
    package let secrets: any ClientSecrets
    package let metrics: AuthenticationMetrics
    package let logger: Logger

    package init(transport: any OutboundTransport, gate: ProviderGate, secrets: any ClientSecrets, metrics: AuthenticationMetrics, logger: Logger) {
        (self.transport, self.gate, self.secrets, self.metrics) = (transport, gate, secrets, metrics)
        self.logger = logger
    }

    /// A code for tokens (RFC 6749 §4.1.3, RFC 7636 §4.5).
    func redeem(
        _ code: String, verifier: String, redirectURI: String, at provider: OAuthProvider, budget: CallBudget
    ) async throws(Fault) -> TokenAnswer {
        let parameters = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI), ("code_verifier", verifier),
        ]
        return try await token(parameters, provider, budget)
    }

    /// A refresh token for an access token (RFC 6749 §6).
    package func refresh(_ token: ProviderRefreshToken, at provider: OAuthProvider, budget: CallBudget) async throws(Fault) -> TokenAnswer {
        try await self.token([("grant_type", "refresh_token"), ("refresh_token", token.text)], provider, budget)
    }

    /// The provider's data about the person.
    func profile(_ token: ProviderAccessToken, at provider: OAuthProvider, budget: CallBudget) async throws(Fault) -> ClaimSet {
        let headers = [("accept", "application/json"), ("authorization", "Bearer \(token.text)")]
        let answer = try await send("profile", to: provider.endpoint.profileURL, headers: headers, provider, budget)
        guard answer.isDocument else { throw failed("profile", provider, "it answered with status \(answer.status)") }
        guard let claims = ClaimSet(json: answer.body) else { throw failed("profile", provider, "the answer is no JSON object") }
        return claims
    }

    /// The provider's public keys.
    package func keys(of provider: OAuthProvider, budget: CallBudget) async throws(Fault) -> JSONWebKeySet {
        let answer = try await send("jwks", to: provider.endpoint.jwksURL, headers: [("accept", "application/json")], provider, budget)
        guard answer.isDocument else { throw failed("jwks", provider, "it answered with status \(answer.status)") }
        guard let keys = try? JSONWebKeySet(published: answer.body) else {
            throw failed("jwks", provider, "the answer is no key set: no JSON object with the list keys (RFC 7517 §5)")
        }
        guard !keys.keys.isEmpty else {
            throw failed(
                "jwks", provider, "no key of the set can be used: it needs an RSA key of 2048 bits at least, or one on P-256, for signatures")
        }
        return keys
    }

    /// The provider's discovery document.
    /// - Throws: `network_received_error` where there is none, as where the provider is away.
    func discovery(at address: String, of provider: OAuthProvider, budget: CallBudget) async throws(Fault) -> [UInt8] {
        let answer = try await send("discovery", to: address, headers: [("accept", "application/json")], provider, budget)
        // Many have none: nobody has to look at that.
        guard answer.isDocument else { throw Fault(.networkReceivedError, "The TV provider has no discovery document.") }
        return answer.body
    }

    private func token(_ parameters: [(String, String)], _ provider: OAuthProvider, _ budget: CallBudget) async throws(Fault) -> TokenAnswer {
        guard let secret = try await secrets.secret(provider.secretReference) else {
            throw failed("token", provider, "there is no client secret '\(provider.secretReference)', neither a file nor one that was written")
        }
        var headers = [("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json")]
        var body = parameters
        switch provider.endpoint.clientAuthentication {
        case .basic, .unrecognized:
            let pair = FormEncoding.encode(provider.clientID) + ":" + FormEncoding.encode(secret.text)
            headers.append(("authorization", "Basic " + Base64.standard.encode(Array(pair.utf8))))
        case .post: body += [("client_id", provider.clientID), ("client_secret", secret.text)]
        }
        let content = Array(FormEncoding.encode(body).utf8)
        let answer = try await send("token", to: provider.endpoint.tokenURL, headers: headers, body: content, provider, budget)
        guard let meaning = TokenAnswer(answer) else { throw failed("token", provider, TokenAnswer.problem(answer)) }
        return meaning
    }

    private func send(
        _ name: String, to url: String, headers: [(String, String)], body: [UInt8]? = nil, _ provider: OAuthProvider, _ budget: CallBudget
    ) async throws(Fault) -> OutboundAnswer {
        let endpoint = provider.endpoint
        let request = OutboundRequest(body == nil ? .get : .post, url, headers: headers.map { (name: $0.0, value: $0.1) }, body: body)
        // Each MVPD has connections of its own, so that one that hangs takes none from the others.
        let route = OutboundRoute(
            peer: provider.id.text, trustAnchors: endpoint.trustAnchors, connectTimeout: endpoint.connectTimeout,
            responseTimeout: endpoint.responseTimeout, connections: ProviderGate.standardLimit)
        let timeLeft = budget.left
        return try await gate.pass(provider.id) { () async throws(Fault) in
            do throws(OutboundFailure) {
                let answer = try await transport.send(request, by: route, timeLeft: timeLeft)
                metrics.providerCall(name, "answered")
                return answer
            } catch {
                metrics.providerCall(name, error.kind.outcome)
                logger.warning(
                    "oauth_call_failed",
                    metadata: ["mvpd": "\(provider.id)", "endpoint": "\(name)", "kind": "\(error.kind.outcome)", "cause": "\(error.cause)"])
                throw Self.fault(error)
            }
        }
    }

    private static func fault(_ failure: OutboundFailure) -> Fault {
        switch failure.kind {
        case .connectTimeout, .responseTimeout, .budgetSpent:
            Fault(.networkConnectionTimeout, "The TV provider did not answer in time.", cause: failure)
        case .notSent, .refusedAddress, .noCertificate, .resetBeforeAnswer, .unusable:
            Fault(.networkReceivedError, "The TV provider's answer cannot be used.", cause: failure)
        case .cancelled: Fault(.cancelled, "The call was cancelled.", cause: failure)
        }
    }

    private func failed(_ name: String, _ provider: OAuthProvider, _ cause: String) -> Fault {
        metrics.providerCall(name, "unusable")
        logger.warning("oauth_answer_unusable", metadata: ["mvpd": "\(provider.id)", "endpoint": "\(name)", "cause": "\(cause)"])
        return Fault(.networkReceivedError, "The TV provider's answer cannot be used.")
    }
}

extension OutboundFailure.Kind {
    /// The metric's label: no finer than what an operator does about it.
    fileprivate var outcome: String {
        switch self {
        case .connectTimeout, .responseTimeout, .budgetSpent: "timeout"
        case .notSent, .refusedAddress, .noCertificate: "unreachable"
        case .resetBeforeAnswer, .unusable: "unusable"
        case .cancelled: "cancelled"
        }
    }
}

/// Limits the calls that wait for one MVPD at a time: one that hangs holds up its own people and nobody else's.
package final class ProviderGate: Sendable {
    package static let standardLimit = 32

    private let limit: Int
    private let waiting = Mutex<[MvpdID: Int]>([:])

    package init(limit: Int = ProviderGate.standardLimit) { self.limit = limit }

    /// - Throws: `overloaded` at once when there are as many as may be, else what the work throws.
    func pass<Value>(_ provider: MvpdID, _ work: () async throws(Fault) -> Value) async throws(Fault) -> Value {
        let isIn = waiting.withLock { waiting in
            guard waiting[provider, default: 0] < limit else { return false }
            waiting[provider, default: 0] += 1
            return true
        }
        guard isIn else { throw Fault(.overloaded, "The TV provider answers too slowly.", retryAfter: .seconds(2)) }
        defer { waiting.withLock { $0[provider] = $0[provider].flatMap { $0 > 1 ? $0 - 1 : nil } } }
        return try await work()
    }
}

/// The answer of a token endpoint (RFC 6749 §5).
package enum TokenAnswer: Sendable {
    case granted(TokenGrant)
    /// `error`: `invalid_grant`, `invalid_client`, …
    case refused(code: String)

    /// - Returns: `nil` when it is neither of the two.
    init?(_ answer: OutboundAnswer) {
        guard let members = ClaimSet(json: answer.body) else { return nil }
        switch answer.status {
        case 200, 201:
            guard let grant = TokenGrant(members) else { return nil }
            self = .granted(grant)
        case 400, 401:
            guard let code = members.text("error") else { return nil }
            self = .refused(code: code)
        default: return nil
        }
    }

    /// Returns why an answer is neither of the two; nothing of what it holds.
    package static func problem(_ answer: OutboundAnswer) -> String {
        guard let members = ClaimSet(json: answer.body) else { return "it answered with status \(answer.status), and with no JSON object" }
        switch answer.status {
        case 200, 201:
            guard members.text("access_token") != nil else { return "access_token is missing, or is no string (RFC 6749 §5.1)" }
            guard let type = members.text("token_type") else { return "token_type is missing, or is no string (RFC 6749 §5.1)" }
            guard type.lowercased() == "bearer" else {
                return "token_type is '\(type.filter { $0.isASCII && $0.isLetter }.prefix(32))'; it must be Bearer"
            }
            return "access_token is empty, too long, or holds characters that no token has (RFC 6750 §2.1)"
        case 400, 401: return "it answered with status \(answer.status), and error is missing (RFC 6749 §5.2)"
        default: return "it answered with status \(answer.status)"
        }
    }
}

/// Tokens that an MVPD gave out.
package struct TokenGrant: Sendable {
    let accessToken: ProviderAccessToken
    /// `expires_in`, if it was sent.
    package let lifetime: Duration?
    let refreshToken: ProviderRefreshToken?
    /// Compact JWS, unverified.
    let identityToken: String?

    /// Bytes; no genuine token is longer.
    private static let longest = 16 * 1024

    init?(_ members: ClaimSet) {
        guard let access = members.text("access_token"), (1...Self.longest).contains(access.utf8.count),
            access.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), members.text("token_type")?.lowercased() == "bearer"
        else { return nil }
        accessToken = ProviderAccessToken(access)
        lifetime = members.number("expires_in").flatMap { (1...31_536_000).contains($0) ? .seconds($0) : nil }
        refreshToken = members.text("refresh_token").flatMap { (1...Self.longest).contains($0.utf8.count) ? ProviderRefreshToken($0) : nil }
        identityToken = members.text("id_token")
    }
}
