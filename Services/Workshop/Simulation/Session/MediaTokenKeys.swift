package import CommandKit
internal import Cryptography
package import MediaTokenVerifier

/// Where the keys that verify media tokens come from.
package enum MediaTokenKeys {
    /// - Parameters:
    ///   - certificates: PEM, concatenated; may be empty.
    ///   - jwks: A JSON Web Key Set.
    /// - Throws: `CommandFailure` when one of them cannot be used.
    package static func trusted(certificates: String, jwks: String?) throws -> TrustedMediaTokenKeys {
        do {
            let pinned = certificates.isEmpty ? [] : try Certificate.all(pem: certificates)
            var keys = try TrustedMediaTokenKeys(certificates: pinned)
            if let jwks { try keys.add(jwks: jwks) }
            return keys
        } catch {
            throw CommandFailure(
                "the keys that verify media tokens cannot be used (\(PlainReason.of(error)))", advice: "give a PEM certificate or a JWK set")
        }
    }

    /// Those that a gateway publishes.
    /// - Parameter further: PEM of those that it does not: of an upstream whose tokens it passes on (bridge §9.4).
    package static func trusted(by gateway: String, further: String? = nil, _ exchange: HTTPExchange) async throws -> TrustedMediaTokenKeys {
        let certificates = try await published("media-token-certificates", by: gateway, exchange) + (further.map { "\n" + $0 } ?? "")
        let jwks = try await published("media-token-jwks", by: gateway, exchange)
        return try trusted(certificates: certificates, jwks: jwks)
    }

    private static func published(_ name: String, by gateway: String, _ exchange: HTTPExchange) async throws -> String {
        let answer = try await exchange.send("GET", "\(gateway)/.well-known/\(name)")
        guard answer.status == 200 else {
            throw CommandFailure("\(gateway)/.well-known/\(name) is answered \(answer.status)", advice: "pass --certificate FILE or --jwks FILE")
        }
        return answer.text
    }
}
