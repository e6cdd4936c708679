internal import Cryptography
public import Faults

/// Makes service tokens: JWT, RS256 (rest-v2 §2.14).
public struct ServiceTokenSigner: Sendable {
    private let keys: ServiceTokenKeys

    /// - Parameter keys: Sign nothing else.
    public init(keys: ServiceTokenKeys) { self.keys = keys }

    /// Takes about half a millisecond: never on an event loop.
    /// - Throws: `internal` when the key cannot sign.
    public func issue(_ token: ServiceTokenClaims) throws(Fault) -> String {
        let key = keys.signing
        var header = JSONObjectText()
        header.add("alg", JWSAlgorithm.rs256.rawValue)
        header.add("kid", key.identifier)
        header.add("typ", "JWT")
        var claims = JSONObjectText()
        claims.add("iss", token.issuer)
        claims.add("sub", token.subject)
        claims.add("aud", ServiceTokens.audience)
        claims.add("nbf", token.issuedAt.seconds)
        claims.add("iat", token.issuedAt.seconds)
        claims.add("exp", token.expiresAt.seconds)
        if let tie = token.tie { claims.add("tie", tie) }
        let input = Base64.url.encode(header.finished()) + "." + Base64.url.encode(claims.finished())
        do {
            return input + "." + Base64.url.encode(try key.privateKey.sign(Array(input.utf8)))
        } catch {
            throw .unexpected(error)
        }
    }
}
