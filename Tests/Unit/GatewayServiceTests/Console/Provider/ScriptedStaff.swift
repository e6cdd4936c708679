internal import Clocks
internal import Cryptography
internal import Doubles
internal import Foundation
@testable import GatewayAdministration
@testable import GatewayEdge
internal import ManualClocks
internal import OutboundHttp
internal import Synchronization

/// The administrators' identity provider as the test commands it: it signs its own tokens and misbehaves when it is told to.
final class ScriptedStaff: OutboundTransport {
    static let issuer = "https://staff.example/realm"

    enum Algorithm: String { case rs256 = "RS256", none, hs256 = "HS256" }

    struct Script {
        var algorithm = Algorithm.rs256
        var issuer = ScriptedStaff.issuer
        /// JSON.
        var audience = #""console""#
        /// `nil`: the request's.
        var nonce: String?
        var issuedAgo: Int64 = 0
        /// JSON members, each with a comma before it.
        var claims = #","roles":["editors"],"programmers":["acme-staff"],"email":"mia@example.com","email_verified":true"#
        /// Which key signs, and which are published.
        var key = 0
        var published = [0]
        var hanging: Set<String> = []
        /// In place of genuine answers, by endpoint.
        var broken: [String: OutboundAnswer] = [:]
        var discovered = ScriptedStaff.issuer
        var tokenEndpoint = ScriptedStaff.issuer + "/token"
    }

    private struct Seen {
        var calls: [String] = []
        var challenge = ""
        var nonce = ""
        var form = ""
        var authorization = ""
    }

    let script = Mutex(Script())
    private let seen = Mutex(Seen())
    private let clock: ManualClock

    /// Made once: generating RSA keys takes long.
    private static let keys: [RSAPrivateKey] = (0..<2).compactMap { _ in try? RSAPrivateKey.generate() }

    init(clock: ManualClock) { self.clock = clock }

    var calls: [String] { seen.withLock { $0.calls } }
    var form: String { seen.withLock { $0.form } }
    var authorization: String { seen.withLock { $0.authorization } }

    static let settings = OpenIDSettings(
        name: "Example staff", issuer: issuer, clientID: "console", clientSecretFile: "console.secret", clientAuthentication: .basic,
        origin: "http://localhost", scopes: ["openid", "email"], nameClaim: "email", roleClaim: "roles",
        roles: ["admins": .operator, "editors": .editor, "readers": .viewer], programmerClaim: "programmers",
        programmers: ["acme-staff": ["acme"], "bravo-staff": ["bravo"]])

    func provider(_ settings: OpenIDSettings = ScriptedStaff.settings) -> OpenIDProvider {
        OpenIDProvider(settings: settings, secret: { " s3cret\n" }, transport: self, clock: clock)
    }

    /// The browser's visit to the authorize endpoint.
    /// - Returns: The state.
    func visit(_ address: String) -> String {
        let items = URLComponents(string: address)?.queryItems ?? []
        let value = { (name: String) in items.first { $0.name == name }?.value ?? "" }
        seen.withLock { seen in
            seen.challenge = value("code_challenge")
            seen.nonce = value("nonce")
        }
        return value("state")
    }

    func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        let endpoint = request.url.split(separator: "/").last.map(String.init) ?? ""
        seen.withLock { $0.calls.append(endpoint) }
        let script = script.withLock { $0 }
        if script.hanging.contains(endpoint) { throw OutboundFailure(.responseTimeout) }
        if let broken = script.broken[endpoint] { return broken }
        switch endpoint {
        case "openid-configuration": return Self.answer(discovery(script))
        case "jwks": return Self.answer(#"{"keys":[\#(script.published.map(Self.jwk).joined(separator: ","))]}"#)
        default:
            let form = String(decoding: request.body ?? [], as: UTF8.self)
            seen.withLock { seen in
                seen.form = form
                seen.authorization = request.headers.first { $0.name == "authorization" }?.value ?? ""
            }
            return token(form, script)
        }
    }

    private func token(_ form: String, _ script: Script) -> OutboundAnswer {
        let verifier = URLComponents(string: "?" + form)?.queryItems?.first { $0.name == "code_verifier" }?.value ?? ""
        let (challenge, nonce) = seen.withLock { ($0.challenge, $0.nonce) }
        guard Base64.url.encode(SHA256.hash(verifier)) == challenge else { return Self.answer(#"{"error":"invalid_grant"}"#, status: 400) }
        let issued = clock.now().seconds - script.issuedAgo
        let claims =
            #"{"iss":"\#(script.issuer)","sub":"user-1","aud":\#(script.audience),"iat":\#(issued),"exp":\#(issued + 300),"#
            + #""nonce":"\#(script.nonce ?? nonce)"\#(script.claims)}"#
        let header = #"{"alg":"\#(script.algorithm.rawValue)","kid":"key-\#(script.key)","typ":"JWT"}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        return Self.answer(#"{"access_token":"a","token_type":"Bearer","id_token":"\#(input).\#(signature(input, script))"}"#)
    }

    private func signature(_ input: String, _ script: Script) -> String {
        switch script.algorithm {
        case .rs256: Base64.url.encode((try? Self.keys[script.key].sign(Array(input.utf8))) ?? [])
        case .none: ""
        // With what everybody knows: the public key.
        case .hs256: Base64.url.encode(HMACSHA1.authenticate(Array(input.utf8), key: Self.keys[script.key].publicKey.modulus))
        }
    }

    private func discovery(_ script: Script) -> String {
        #"{"issuer":"\#(script.discovered)","authorization_endpoint":"\#(Self.issuer)/authorize","#
            + #""token_endpoint":"\#(script.tokenEndpoint)","jwks_uri":"\#(Self.issuer)/jwks"}"#
    }

    private static func jwk(_ number: Int) -> String {
        let key = keys[number].publicKey
        return #"{"kty":"RSA","use":"sig","alg":"RS256","kid":"key-\#(number)","n":"\#(Base64.url.encode(key.modulus))","#
            + #""e":"\#(Base64.url.encode(key.exponent))"}"#
    }

    private static func answer(_ text: String, status: Int = 200) -> OutboundAnswer {
        OutboundAnswer(status: status, headers: [("content-type", "application/json")], body: Array(text.utf8))
    }
}
