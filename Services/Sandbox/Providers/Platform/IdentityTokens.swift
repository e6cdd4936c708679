internal import SandboxKit
internal import Clocks
internal import FoundationEssentials

/// The platform's identity tokens: JWT, RS256 (rest-v1 §2.6).
struct IdentityTokens: Sendable {
    /// What a token is to say.
    struct Order: Decodable {
        let person: String
        let device: String?
        let audience: String?
        let issuer: String?
        /// Seconds; negative: it has already expired.
        let lifetimeSeconds: Int64?
    }

    private struct Claims: Encodable {
        let iss: String
        let sub: String
        let aud: String
        let did: String
        let iat: Int64
        let exp: Int64
    }

    private static let longestLifetime: Int64 = 31_536_000

    let issuer: String
    let key: SigningKey

    func token(_ order: Order, now: Timestamp) throws -> String {
        let lifetime = order.lifetimeSeconds ?? 3600
        guard (-Self.longestLifetime...Self.longestLifetime).contains(lifetime) else {
            throw SettingsFault(key: "lifetimeSeconds", problem: "is more than a year")
        }
        let claims = Claims(
            iss: order.issuer ?? issuer, sub: "sandbox-\(order.person)", aud: order.audience ?? "adobe", did: order.device ?? "sandbox-device",
            iat: now.seconds, exp: now.seconds + lifetime)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = Base64.urlText(Array(#"{"alg":"RS256","typ":"JWT"}"#.utf8))
        let input = header + "." + Base64.urlText(Array(try encoder.encode(claims)))
        return input + "." + Base64.urlText(try key.sign(Array(input.utf8)))
    }
}
