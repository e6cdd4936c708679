internal import Contracts
internal import Cryptography
internal import Foundation
internal import Tokens

/// A platform of the examiner's, which says who its user is (`Adobe-Subject-Token`).
struct PlatformToken: Sendable {
    private static let issuer = "https://platform.conformance.example"
    private static let name = "conformance-platform"
    private static let keys = Result<(own: P256PrivateKey, foreign: P256PrivateKey), any Error> { (try .generate(), try .generate()) }

    let subject: String
    /// Seconds since 1970.
    private let end = Int(Date().timeIntervalSince1970) + 3600

    init(subject: String) { self.subject = subject }

    /// The catalogue believes the platform.
    static func trust(_ configuration: inout Configuration) throws {
        let published = JSONWebKeySet(keys: [JSONWebKey(.p256(try keys.get().own.publicKey), identifier: name)])
        configuration.platformIdentityIssuers.append(PlatformIdentityIssuer(issuer: issuer, jwks: published.json))
    }

    func text() throws -> String { try text(signedBy: try Self.keys.get().own) }

    /// The same, signed by a key that the platform does not have.
    func forged() throws -> String { try text(signedBy: try Self.keys.get().foreign) }

    /// The same, and nobody signed it.
    func unsigned() throws -> String { try "\(Self.part(["alg": "none"])).\(claims())." }

    private func text(signedBy key: P256PrivateKey) throws -> String {
        let input = try "\(Self.part(["alg": "ES256", "kid": Self.name, "typ": "JWT"])).\(claims())"
        return "\(input).\(Base64.url.encode(try key.sign(Array(input.utf8))))"
    }

    private func claims() throws -> String {
        try Self.part(["iss": Self.issuer, "sub": subject, "aud": "Adobe", "exp": end])
    }

    private static func part(_ object: [String: Any]) throws -> String {
        Base64.url.encode(Array(try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)))
    }
}
