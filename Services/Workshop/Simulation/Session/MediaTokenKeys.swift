internal import Clocks
package import CommandKit
internal import Cryptography
internal import Foundation
package import MediaTokenVerifier

/// The keys that verify media tokens come from one of these places.
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

/// The result of a check, for people and for programs.
package struct MediaTokenReport {
    package let verdict: MediaTokenVerdict
    let rows: [(name: String, value: String)]

    package init(_ check: MediaTokenCheck) {
        verdict = check.verdict
        rows = check.facts.map(Self.rows) ?? []
    }

    package func text(asJSON: Bool) throws -> String {
        guard asJSON else {
            let width = (rows.map(\.name.count).max() ?? 0) + 2
            return ([verdict.rawValue] + rows.map { "  \($0.name.padding(toLength: width, withPad: " ", startingAt: 0))\($0.value)" })
                .joined(separator: "\n")
        }
        let facts = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.value) })
        let content = try JSONSerialization.data(
            withJSONObject: facts.merging(["verdict": verdict.rawValue]) { first, _ in first }, options: [.sortedKeys, .prettyPrinted])
        return String(decoding: content, as: UTF8.self)
    }

    private static func rows(_ facts: MediaTokenFacts) -> [(name: String, value: String)] {
        var rows = [("requestor", facts.requestor), ("resource", facts.resource), ("mvpd", facts.mvpd)]
        if let proxy = facts.proxyMvpd, !proxy.isEmpty { rows.append(("proxyMvpd", proxy)) }
        return rows + [("user", facts.sessionGUID), ("issued", text(facts.issuedAt)), ("expires", text(facts.expiresAt))]
    }

    private static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }
}
