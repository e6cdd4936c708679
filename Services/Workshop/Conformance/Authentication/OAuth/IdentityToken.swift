internal import Cryptography
internal import Foundation
internal import Tokens

/// The `id_token` of a played provider (OpenID Connect Core §2), genuine or with one thing wrong.
struct IdentityToken: Sendable {
    /// The flaw of a token.
    enum Flaw: String, Sendable, CaseIterable {
        /// `alg` is `none`, and there is no signature.
        case unsigned
        /// Signed by a key of the same name that the provider does not publish.
        case foreignKey
        /// Declares HS256, with the public key as the secret (RFC 8725 §2.1).
        case publicKeyAsSecret
        /// The subject was changed after it was signed.
        case altered
        case otherIssuer, otherAudience, otherNonce, expired
    }

    /// The kinds that services must take (mvpd section 3).
    enum Algorithm: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    /// One for the whole process: generating a key can take seconds.
    struct Keys: Sendable {
        let rsa: RSAPrivateKey
        let p256: P256PrivateKey
        let foreign: RSAPrivateKey

        static let shared = Result<Keys, any Error> {
            Keys(rsa: try .generate(), p256: try .generate(), foreign: try .generate())
        }

        /// The keys that the provider publishes.
        var published: JSONWebKeySet {
            JSONWebKeySet(keys: [
                JSONWebKey(.rsa(rsa.publicKey), identifier: Algorithm.rs256.rawValue),
                JSONWebKey(.p256(p256.publicKey), identifier: Algorithm.es256.rawValue),
            ])
        }
    }

    var issuer: String
    var audience: String
    var nonce: String
    var person: PlayedProvider.Person
    var algorithm = Algorithm.rs256
    var flaw: Flaw?

    /// - Returns: The compact form (RFC 7515 §7.1).
    func text(_ keys: Keys, now: Date) throws -> String {
        var header = ["alg": algorithm.rawValue, "kid": algorithm.rawValue, "typ": "JWT"]
        switch flaw {
        case .unsigned: header["alg"] = "none"
        case .publicKeyAsSecret: header["alg"] = "HS256"
        default: break
        }
        let input = try "\(Self.part(header)).\(Self.part(claims(now)))"
        let signature = try signature(over: Array(input.utf8), keys)
        guard flaw == .altered else { return "\(input).\(signature)" }
        var richer = self
        richer.person = .neighbour
        return try "\(Self.part(header)).\(Self.part(richer.claims(now))).\(signature)"
    }

    private func claims(_ now: Date) -> [String: Any] {
        let issued = Int(now.timeIntervalSince1970) - (flaw == .expired ? 7200 : 0)
        return [
            "iss": flaw == .otherIssuer ? "https://elsewhere.example" : issuer, "aud": flaw == .otherAudience ? "another-client" : audience,
            "sub": person.subject, "nonce": flaw == .otherNonce ? "another-nonce" : nonce, "iat": issued, "exp": issued + 300,
            PlayedProvider.householdClaim: person.household,
        ]
    }

    private func signature(over input: [UInt8], _ keys: Keys) throws -> String {
        let bytes: [UInt8] =
            switch (flaw, algorithm) {
            case (.unsigned, _): []
            case (.foreignKey, _): try keys.foreign.sign(input)
            case (.publicKeyAsSecret, _):
                // A key longer than a block counts by its digest (RFC 2104 §2).
                HMACSHA256.authenticate(input, key: try SymmetricKey(bytes: SHA256.hash(try keys.rsa.publicKey.pem())))
            case (_, .rs256): try keys.rsa.sign(input)
            case (_, .es256): try keys.p256.sign(input)
            }
        return Base64.url.encode(bytes)
    }

    private static func part(_ object: [String: Any]) throws -> String {
        Base64.url.encode(Array(try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)))
    }
}
