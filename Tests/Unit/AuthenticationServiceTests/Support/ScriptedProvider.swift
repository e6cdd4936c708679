import Clocks
import Contracts
import Faults
import Cryptography
import Doubles
import Foundation
import ManualClocks
import OutboundHttp
import Synchronization
import Tokens

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// An OpenID provider that the test commands: it signs its own tokens, checks the client and the verifier, and misbehaves when it is told to.
final class ScriptedProvider: OutboundTransport {
    static let issuer = "https://open.example"
    static let redirectURI = "https://tv.example/adobe-services/oauth2"
    static let endpoint = OAuthEndpoint(
        issuer: issuer, authorizeURL: "\(issuer)/authorize", tokenURL: "\(issuer)/token", profileURL: "\(issuer)/userinfo",
        jwksURL: "\(issuer)/jwks", logoutURL: "\(issuer)/logout", clientID: "boxoffice", clientSecretReference: "openfiber",
        scopes: ["openid", "profile"])

    struct Secrets: ClientSecrets {
        func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret? {
            [
                "openfiber": ProviderSecret("s3cret"), "own": ProviderSecret("0wn"), "acme-v2": ProviderSecret("a.software.statement"),
                "tess": ProviderSecret("s3same"),
            ][reference.text]
        }
    }

    enum Algorithm: String, CaseIterable {
        case rs256 = "RS256"
        case ps256 = "PS256"
        case es256 = "ES256"
        case none
        case hs256 = "HS256"
    }

    /// The names of keys, in the set and in tokens.
    enum KeyNames: Sendable { case each, none, one }

    /// The parts of the next answers.
    struct Script {
        var algorithm = Algorithm.rs256
        var sendsIdentityToken = true
        var issuer = ScriptedProvider.issuer
        /// JSON.
        var audience = #""boxoffice""#
        var authorizedParty: String?
        /// `nil`: the request's.
        var nonce: String?
        var lifetime: Int64 = 300
        var issuedAgo: Int64 = 0
        var subject = "user-42"
        /// JSON members, each with a comma before it.
        var extraClaims = ""
        /// JSON.
        var profile = #"{"sub":"user-42","zip":["10001"],"householdID":"house-1","maxRating":{"VCHIP":"TV-PG"}}"#
        /// JSON; `nil`: there is no discovery document.
        var discovery: String?
        var key = 0
        var keyNames = KeyNames.each
        /// Entries of the set before the keys, each with a comma after it.
        var oddKeys = ""
        /// Behind `iat` and `exp`.
        var fraction = ""
        /// The status of answers that are not errors.
        var goodStatus = 200
        /// Keys that are published.
        var published = [0]
        var refreshToken: String? = "refresh-1"
        var rotatesRefreshTokens = false
        var refusesRefresh = false
        var accessLifetime = 600
        /// Endpoints that do not answer.
        var hanging: Set<String> = []
        /// Bodies in place of genuine ones, by endpoint.
        var broken: [String: OutboundAnswer] = [:]
    }

    struct Call: Sendable {
        let endpoint: String
        let headers: [String: String]
        let parameters: [String: String]
    }

    let script = Mutex(Script())
    private let seen = Mutex<[Call]>([])
    private let counter = Mutex(1)
    private let requested = Mutex<(challenge: String, nonce: String, code: String?, redirectURI: String?)>(("", "", nil, nil))
    private let clock: ManualClock
    private let keys: [RSAPrivateKey]
    private let elliptic: P256PrivateKey

    init(clock: ManualClock) throws {
        self.clock = clock
        let (first, second) = try TestRSAKeys.two.get()
        keys = [first, second]
        elliptic = try P256PrivateKey.generate()
    }

    var calls: [Call] { seen.withLock { $0 } }

    func count(_ endpoint: String) -> Int { calls.count { $0.endpoint == endpoint } }

    /// The browser's visit to the provider: it takes the request there and a code back.
    func authorize(_ url: String) -> String {
        let query = Self.parameters(of: url)
        let code = "code-\(query["state"]?.prefix(8) ?? "")"
        requested.withLock { $0 = (query["code_challenge"] ?? "", query["nonce"] ?? "", code, query["redirect_uri"]) }
        return code
    }

    static func parameters(of url: String) -> [String: String] {
        decoded(URLComponents(string: url)?.percentEncodedQuery ?? "")
    }

    func send(_ request: OutboundRequest, by _: OutboundRoute, timeLeft _: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        let name = String(request.url.dropFirst(Self.issuer.count + 1))
        let parameters = request.body.map { Self.decoded(String(decoding: $0, as: UTF8.self)) } ?? [:]
        let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first }
        // Asked for beside what tests count.
        if name != ".well-known/openid-configuration" || script.withLock({ $0.discovery }) != nil {
            seen.withLock { $0.append(Call(endpoint: name, headers: headers, parameters: parameters)) }
        }
        let script = script.withLock { $0 }
        if script.hanging.contains(name) { throw OutboundFailure(.responseTimeout) }
        if let broken = script.broken[name] { return broken }
        switch name {
        case "token": return token(parameters, headers, script)
        case ".well-known/openid-configuration":
            return script.discovery.map { OutboundAnswer(status: 200, body: Array($0.utf8)) } ?? OutboundAnswer(status: 404, body: [])
        case "jwks": return OutboundAnswer(status: script.goodStatus, body: Array(keySet(script).utf8))
        default: return OutboundAnswer(status: script.goodStatus, body: Array(script.profile.utf8))
        }
    }

    private func token(_ parameters: [String: String], _ headers: [String: String], _ script: Script) -> OutboundAnswer {
        if headers["authorization"] == nil, parameters["client_secret"] == nil { return Self.error("invalid_client", 401) }
        if parameters["grant_type"] == "refresh_token" {
            if script.refusesRefresh || parameters["refresh_token"] != script.refreshToken { return Self.error("invalid_grant") }
            let number = counter.withLock { count in
                count += 1
                return count
            }
            var members = #""access_token":"access-\#(number)","token_type":"Bearer","expires_in":\#(script.accessLifetime)"#
            if script.rotatesRefreshTokens {
                self.script.withLock { $0.refreshToken = "refresh-\(number)" }
                members += #","refresh_token":"refresh-\#(number)""#
            }
            return OutboundAnswer(status: script.goodStatus, body: Array("{\(members)}".utf8))
        }
        let asked = requested.withLock { asked in
            defer { if asked.code == parameters["code"] { asked.code = nil } }
            return asked
        }
        let challenge = Base64.url.encode(SHA256.hash(parameters["code_verifier"] ?? ""))
        guard asked.code != nil, parameters["code"] == asked.code, challenge == asked.challenge, parameters["redirect_uri"] == asked.redirectURI
        else { return Self.error("invalid_grant") }
        var members = #""access_token":"access-1","token_type":"Bearer","expires_in":\#(script.accessLifetime)"#
        if let refresh = script.refreshToken { members += #","refresh_token":"\#(refresh)""# }
        if script.sendsIdentityToken { members += #","id_token":"\#(identityToken(nonce: asked.nonce, script))""# }
        return OutboundAnswer(status: script.goodStatus, body: Array("{\(members)}".utf8))
    }

    private func identityToken(nonce: String, _ script: Script) -> String {
        let now = clock.now().seconds - script.issuedAgo
        var claims =
            #""iss":"\#(script.issuer)","sub":"\#(script.subject)","aud":\#(script.audience),"iat":\#(now)\#(script.fraction),"exp":\#(now + script.lifetime)\#(script.fraction)"#
        claims += #","nonce":"\#(script.nonce ?? nonce)""# + script.extraClaims
        if let party = script.authorizedParty { claims += #","azp":"\#(party)""# }
        let name =
            switch script.keyNames {
            case .each: #","kid":"\#(script.algorithm == .es256 ? "e1" : "k\(script.key)")""#
            case .one: #","kid":"k""#
            case .none: ""
            }
        let header = #"{"alg":"\#(script.algorithm.rawValue)"\#(name)}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array("{\(claims)}".utf8))
        return input + "." + Base64.url.encode(signature(Array(input.utf8), script))
    }

    private func signature(_ input: [UInt8], _ script: Script) -> [UInt8] {
        let key = keys[script.key]
        switch script.algorithm {
        case .rs256: return (try? key.sign(input)) ?? []
        case .ps256: return (try? key.sign(input, scheme: .pss)) ?? []
        case .es256: return (try? elliptic.sign(input)) ?? []
        case .none: return []
        case .hs256:
            // The classic confusion: the public key as the secret.
            let secret = SHA256.hash((try? key.publicKey.pem()) ?? "")
            guard let symmetric = try? SymmetricKey(bytes: secret) else { return [] }
            return HMACSHA256.authenticate(input, key: symmetric)
        }
    }

    private func keySet(_ script: Script) -> String {
        func name(_ own: String) -> String? {
            switch script.keyNames {
            case .each: own
            case .one: "k"
            case .none: nil
            }
        }
        let rsa = script.published.map { JSONWebKey(.rsa(keys[$0].publicKey), identifier: name("k\($0)")) }
        return JSONWebKeySet(keys: rsa + [JSONWebKey(.p256(elliptic.publicKey), identifier: name("e1"))]).json
            .replacingOccurrences(of: #""alg":"RS256","#, with: "").replacingOccurrences(of: #"{"keys":["#, with: #"{"keys":[\#(script.oddKeys)"#)
    }

    private static func error(_ code: String, _ status: Int = 400) -> OutboundAnswer {
        OutboundAnswer(status: status, body: Array(#"{"error":"\#(code)"}"#.utf8))
    }

    private static func decoded(_ form: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in form.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            pairs[parts[0].removingPercentEncoding ?? ""] = (parts.count > 1 ? parts[1] : "").removingPercentEncoding ?? ""
        }
        return pairs
    }
}
