internal import Foundation

/// Automatic Sign-In (apple §4).
extension StreamingApp {
    /// A value for the Apple Account.
    package struct IssuedToken: Sendable {
        package let familyID: String
        package let value: String
    }

    /// What became of a redeem.
    package enum Redemption: Sendable {
        /// Signed in with the TV providers' ids.
        case signedIn(mvpds: [String])
        /// Not this time; the app goes on with an ordinary sign-in (apple §1.1).
        case refused(code: String)
    }

    package func issueToken(for account: SimulatedAppleAccount, authorization: String) async throws -> IssuedToken {
        let answer = try await post(
            "tokens", ["bundleId": account.bundleID, "environment": account.environment, "contextAuthorization": authorization])
        guard answer.status == 201, let family = answer.object["familyId"] as? String, let value = answer.object["value"] as? String else {
            throw failure(answer, "asking for a value")
        }
        return IssuedToken(familyID: family, value: value)
    }

    /// - Parameter isStored: False ends the opt-in.
    package func confirm(_ token: IssuedToken, isStored: Bool) async throws {
        let answer = try await post("tokens/\(FormEncoding.encode(token.familyID))/stored", ["outcome": isStored ? "stored" : "failed"])
        guard answer.status == 200 else { throw failure(answer, "confirming the value") }
    }

    package func redeem(_ value: String, of account: SimulatedAppleAccount) async throws -> Redemption {
        let answer = try await post("redeem", ["value": value, "bundleId": account.bundleID, "environment": account.environment])
        if answer.status == 200 { return .signedIn(mvpds: (answer.object["profiles"] as? [String: Any] ?? [:]).keys.sorted()) }
        guard let code = answer.object["code"] as? String, answer.status < 500 else { throw failure(answer, "redeeming the value") }
        return .refused(code: code)
    }

    /// The ids of the opt-ins that are not over.
    func optIns() async throws -> [String] {
        let answer = try await send("GET", path("tokens"), headers: [identifier])
        guard answer.status == 200 else { throw failure(answer, "asking for the opt-ins") }
        let families = answer.object["families"] as? [[String: Any]] ?? []
        return families.filter { $0["state"] as? String != "revoked" }.compactMap { $0["familyId"] as? String }
    }

    func optOut(_ family: String, reason: String) async throws {
        let answer = try await post("tokens/revoke", ["familyId": family, "reason": reason])
        guard answer.status == 200 else { throw failure(answer, "opting out") }
    }

    /// A link to the page where the person sees the devices.
    func webLink() async throws -> String {
        let answer = try await post("web-link", [:])
        guard answer.status == 201, let url = answer.object["url"] as? String else { throw failure(answer, "asking for the link to the devices") }
        return url
    }

    private var identifier: (String, String) { ("AP-Device-Identifier", "fingerprint \(Data(deviceID.utf8).base64EncodedString())") }

    private func path(_ call: String) -> String { "/auto-signin/v1/\(FormEncoding.encode(requestor))/\(call)" }

    private func post(_ call: String, _ object: [String: String]) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await send(
            "POST", path(call), headers: [identifier, ("Idempotency-Key", UUID().uuidString), ("Content-Type", "application/json")], body: body)
    }
}
