@testable import AutoSignInService
import Clocks
import Cryptography

/// Apple's side of identity tokens: keys, and tokens that are right until a test changes something.
struct TokenMaker {
    static let clientID = "example.acme.tv"
    static let nonce = "bm9uY2Utb2YtdGhlLXRlc3QtdGhhdC1pcy1sb25nLWVub3VnaA"
    static let subject = "001834.5d1c0a2be4f94c7795c1d60d3e8a4b72.1337"
    static let now = Timestamp(seconds: 1_930_384_800)
    static let keyName = "K7Q2M9XD4A"
    /// Making one takes a while: all tests share two.
    static let keys: [RSAPrivateKey] = (0..<2).compactMap { _ in try? RSAPrivateKey.generate() }

    /// JSON texts by name, in order.
    var header: [(String, String)] = [("kid", "\"\(keyName)\""), ("alg", "\"RS256\"")]
    var claims: [(String, String)]
    var key = TokenMaker.keys[0]

    init(
        clientID: String = TokenMaker.clientID, nonce: String? = TokenMaker.nonce, subject: String = TokenMaker.subject,
        now: Timestamp = TokenMaker.now
    ) {
        claims = [
            ("iss", "\"https://appleid.apple.com\""), ("aud", "\"\(clientID)\""), ("exp", "\(now.seconds + 86_400)"), ("iat", "\(now.seconds)"),
            ("sub", "\"\(subject)\""), ("email", "\"ada@example.org\""), ("email_verified", "\"true\""), ("nonce_supported", "true"),
            ("real_user_status", "2"),
        ]
        if let nonce { claims.append(("nonce", "\"\(nonce)\"")) }
    }

    /// - Parameter text: JSON; `nil`: without the claim.
    func with(_ name: String, _ text: String?) -> TokenMaker {
        var copy = self
        copy.claims.removeAll { $0.0 == name }
        if let text { copy.claims.append((name, text)) }
        return copy
    }

    func withHeader(_ name: String, _ text: String?) -> TokenMaker {
        var copy = self
        copy.header.removeAll { $0.0 == name }
        if let text { copy.header.append((name, text)) }
        return copy
    }

    func signed(by key: RSAPrivateKey) -> TokenMaker {
        var copy = self
        copy.key = key
        return copy
    }

    func token() throws -> String { try Self.token(header: Self.object(header), payload: Self.object(claims), key: key) }

    static func object(_ members: [(String, String)]) -> String { "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}" }

    static func token(header: String, payload: String, key: RSAPrivateKey) throws -> String {
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(payload.utf8))
        return input + "." + Base64.url.encode(try key.sign(Array(input.utf8)))
    }

    /// The left half of the SHA-256, as `c_hash` and `at_hash` have it.
    static func hash(_ text: String) -> String { Base64.url.encode(Array(SHA256.hash(text).prefix(16))) }

    /// `auth/keys` with these keys.
    static func document(_ keys: [(name: String, key: RSAPublicKey)]) -> [UInt8] {
        let list = keys.map { name, key in
            """
            {"kty":"RSA","kid":"\(name)","use":"sig","alg":"RS256","n":"\(Base64.url.encode(key.modulus))","e":"\(Base64.url.encode(key.exponent))"}
            """
        }
        return Array("{\"keys\":[\(list.joined(separator: ","))]}".utf8)
    }

    static var keySet: AppleKeySet { AppleKeySet([keyName: .usable(keys[0].publicKey)]) }
}
