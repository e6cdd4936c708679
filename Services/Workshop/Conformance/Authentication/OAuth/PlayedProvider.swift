internal import Cryptography
internal import Foundation
internal import Synchronization
internal import Tokens

/// The examiner in the role of an OAuth provider: it answers at its token, profile and key addresses, and notes what it was asked.
final class PlayedProvider: Sendable {
    /// The person who signs in.
    struct Person: Sendable, Equatable {
        let subject: String
        let household: String
        let channels: [String]

        static let subscriber = Person(subject: "conformance-person", household: "conformance-home", channels: ["ACME1-NEWS", "ACME1-MOVIES"])
        static let neighbour = Person(subject: "conformance-neighbour", household: "conformance-next-door", channels: [])
    }

    /// The names of the claims beside `sub`: the one in the `id_token`, the other in the profile alone.
    static let householdClaim = "household"
    static let channelsClaim = "channels"
    static let clientID = "conformance-client"
    /// Lifetime of an access token, in seconds: so short that the next decision needs another token.
    static let accessTokenLife = 1

    /// The grant of a code.
    struct Grant: Sendable {
        var challenge: String
        var redirectURI: String
        var token: IdentityToken
    }

    private struct State {
        var grants: [String: Grant] = [:]
        var refreshTokens: [String: Person] = [:]
        var accessTokens: [String: Person] = [:]
        var exchanges = 0
        var complaints: [String] = []
    }

    private let state = Mutex(State())
    private let keys: IdentityToken.Keys

    init(_ keys: IdentityToken.Keys) { self.keys = keys }

    /// The person has signed in at the provider.
    /// - Returns: The code that the browser brings, good for one exchange.
    func code(for grant: Grant) -> String {
        let code = Self.secret()
        state.withLock { $0.grants[code] = grant }
        return code
    }

    /// A client tried to exchange a code this often.
    var exchanges: Int { state.withLock { $0.exchanges } }

    /// The complaints about requests, in the order in which they came.
    var complaints: [String] { state.withLock { $0.complaints } }

    /// True when the provider gave the access token out.
    func knows(_ accessToken: String) -> Bool { state.withLock { $0.accessTokens[accessToken] != nil } }

    /// From now on no refresh token is good.
    func revokeRefreshTokens() { state.withLock { $0.refreshTokens = [:] } }

    // MARK: Its addresses

    func answer(_ request: ProviderServer.Request) -> ProviderServer.Answer {
        switch (request.method, request.path) {
        case ("POST", "/token"): token(request)
        case ("GET", "/jwks"): ProviderServer.Answer(json: keys.published.json)
        case ("GET", "/profile"): profile(request)
        default: complain("\(request.method) \(request.path), which the provider does not have", status: 404, error: "not_found")
        }
    }

    private func token(_ request: ProviderServer.Request) -> ProviderServer.Answer {
        let form = Self.form(request.body)
        guard isClient(request.authorization) else {
            return complain("a token request without the client's id and secret in Basic authentication", status: 401, error: "invalid_client")
        }
        switch form["grant_type"] {
        case "authorization_code": return exchange(form)
        case "refresh_token":
            guard let person = state.withLock({ $0.refreshTokens[form["refresh_token"] ?? ""] }) else {
                return ProviderServer.Answer(status: 400, json: #"{"error":"invalid_grant"}"#)
            }
            return tokens(for: person, refreshToken: form["refresh_token"] ?? "", identityToken: nil)
        default: return complain("grant_type '\(form["grant_type"] ?? "")'", status: 400, error: "unsupported_grant_type")
        }
    }

    private func exchange(_ form: [String: String]) -> ProviderServer.Answer {
        let grant = state.withLock { state in
            state.exchanges += 1
            return state.grants.removeValue(forKey: form["code"] ?? "")
        }
        guard let grant else { return complain("a code that was used, or never given out", status: 400, error: "invalid_grant") }
        guard form["redirect_uri"] == grant.redirectURI else {
            return complain("redirect_uri '\(form["redirect_uri"] ?? "")'", status: 400, error: "invalid_grant")
        }
        guard let verifier = form["code_verifier"], (43...128).contains(verifier.utf8.count),
            Base64.url.encode(SHA256.hash(verifier)) == grant.challenge
        else { return complain("a code_verifier that is not of the code_challenge", status: 400, error: "invalid_grant") }
        guard let identityToken = try? grant.token.text(keys, now: Date()) else {
            return complain("the examiner cannot sign an id_token", status: 500, error: "server_error")
        }
        return tokens(for: grant.token.person, refreshToken: Self.secret(), identityToken: identityToken)
    }

    private func tokens(for person: Person, refreshToken: String, identityToken: String?) -> ProviderServer.Answer {
        let accessToken = Self.secret()
        state.withLock { state in
            state.refreshTokens[refreshToken] = person
            state.accessTokens[accessToken] = person
        }
        var object: [String: Any] = [
            "access_token": accessToken, "token_type": "Bearer", "expires_in": Self.accessTokenLife, "refresh_token": refreshToken,
        ]
        if let identityToken { object["id_token"] = identityToken }
        return Self.answer(object)
    }

    private func profile(_ request: ProviderServer.Request) -> ProviderServer.Answer {
        let token = request.authorization.split(separator: " ").last.map(String.init) ?? ""
        guard request.authorization.lowercased().hasPrefix("bearer "), let person = state.withLock({ $0.accessTokens[token] }) else {
            return complain("a profile request without an access token of the provider's", status: 401, error: "invalid_token")
        }
        return Self.answer(["sub": person.subject, Self.channelsClaim: person.channels])
    }

    /// RFC 6749 §2.3.1. The secret is the service's own: any is taken, but there must be one.
    private func isClient(_ authorization: String) -> Bool {
        let parts = authorization.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "basic", let pair = Base64.standard.decode(String(parts[1])) else { return false }
        let text = String(decoding: pair, as: UTF8.self)
        return text.hasPrefix("\(Self.clientID):") && text.utf8.count > Self.clientID.utf8.count + 1
    }

    private func complain(_ text: String, status: Int, error: String) -> ProviderServer.Answer {
        state.withLock { $0.complaints.append(text) }
        return ProviderServer.Answer(status: status, json: #"{"error":"\#(error)"}"#)
    }

    private static func answer(_ object: [String: Any]) -> ProviderServer.Answer {
        let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        return ProviderServer.Answer(json: String(decoding: data ?? Data("{}".utf8), as: UTF8.self))
    }

    private static func secret() -> String { Base64.url.encode(SecureRandom.bytes(24)) }

    /// `application/x-www-form-urlencoded`; of a name that comes twice the first value counts.
    static func form(_ body: String) -> [String: String] {
        let pairs = body.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? String($0)
            }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
