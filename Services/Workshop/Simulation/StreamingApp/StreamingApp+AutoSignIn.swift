internal import CommandKit
internal import Foundation
internal import TextEncodings

/// Automatic Sign-In (apple §4).
extension StreamingApp {
    /// A value for the Apple Account.
    package struct IssuedToken: Sendable {
        package let familyID: String
        package let value: String
    }

    /// Asks for a value, as after a prompt that the person approved.
    package func issueToken(bundleID: String) async throws -> IssuedToken {
        let answer = try await post("tokens", ["bundleId": bundleID, "environment": "sandbox", "contextAuthorization": "granted"])
        guard answer.status == 201, let family = answer.object["familyId"] as? String, let value = answer.object["value"] as? String else {
            throw failure(answer, "asking for a value")
        }
        return IssuedToken(familyID: family, value: value)
    }

    /// The value is on the account now.
    package func confirm(_ token: IssuedToken) async throws {
        let answer = try await post("tokens/\(FormEncoding.encode(token.familyID))/stored", ["outcome": "stored"])
        guard answer.status == 200 else { throw failure(answer, "confirming the value") }
    }

    private func post(_ call: String, _ object: [String: String]) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await send(
            "POST", "/auto-signin/v1/\(FormEncoding.encode(requestor))/\(call)",
            headers: [deviceIdentifier, ("Idempotency-Key", UUID().uuidString), ("Content-Type", "application/json")], body: body)
    }
}
