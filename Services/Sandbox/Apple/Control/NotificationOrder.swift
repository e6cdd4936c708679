internal import SandboxKit
internal import AsyncHTTPClient
internal import Clocks
internal import FoundationEssentials
internal import NIOCore

/// A notification that tests order from Apple's server (apple §2.9), valid or not.
struct NotificationOrder: Sendable, Decodable {
    /// `events` and its times are written in one of these ways.
    enum Form: String, Sendable, Decodable {
        case object, string
    }

    /// `consent-revoked`, `account-deleted`, `email-disabled`, …
    let type: String
    let account: String
    /// `aud`.
    let clientID: String
    let form: Form?
    /// Seconds before now; negative: ahead.
    let secondsAgo: Int64?
    /// True when `event_time` is in milliseconds.
    let milliseconds: Bool?
    /// The same one twice makes a duplicate.
    let jti: String?
    let signature: TokenSignature?
    /// Over the token's own claims; null leaves one out.
    let claims: [String: JsonValue]?
    /// True when it has an `exp`.
    let expires: Bool?
    /// True when the stand-in acts on it too, as Apple would have; default true for a good signature.
    let applies: Bool?
    /// It is posted to the group's address this often; default 1, 0: it is only answered here.
    let posts: Int?

    enum CodingKeys: String, CodingKey {
        case type, account, form, secondsAgo, milliseconds, jti, signature, claims, expires, applies, posts
        case clientID = "clientId"
    }

    static let mostPosts = 20

    func check() throws(SettingsFault) {
        guard (0...Self.mostPosts).contains(posts ?? 1) else { throw SettingsFault(key: "posts", problem: "is not from 0 to \(Self.mostPosts)") }
    }

    /// The `payload`: a JWS.
    func payload(_ content: inout AppleMemory.Content, _ client: AppleClient, jti: String, now: Timestamp) throws -> String {
        let moment = now - .seconds(secondsAgo ?? 0)
        let events = event(content, client, at: milliseconds == true ? moment.milliseconds : moment.seconds)
        var claims: [String: JsonValue] = [
            "iss": .text(IdentityTokenOrder.issuer), "aud": .text(clientID), "iat": .number(now.seconds), "jti": .text(jti),
            "events": form == .object ? .object(events) : .text(try Self.json(events)),
        ]
        if expires == true { claims["exp"] = .number(now.seconds + 86_400) }
        claims.merge(self.claims ?? [:]) { $1 }
        let signature = signature ?? .good
        let key = signature == .unpublished ? try content.keys.makeForeign(&content.octets) : content.keys.signing
        return try signature.token(claims, key: key)
    }

    /// Applies the events that happened at Apple by then.
    func apply(_ content: inout AppleMemory.Content, _ client: AppleClient) {
        guard applies ?? ((signature ?? .good) == .good) else { return }
        switch type {
        case "consent-revoked": content.ledger.withdraw(account, from: client.group.id)
        case "account-deleted", "account-delete": content.ledger.withdraw(account, from: nil)
        default: break
        }
    }

    private func event(_ content: AppleMemory.Content, _ client: AppleClient, at time: Int64) -> [String: JsonValue] {
        var event: [String: JsonValue] = [
            "type": .text(type), "sub": .text(content.names.subject(account, team: client.group.team)), "event_time": .number(time),
        ]
        if type.hasPrefix("email-") {
            event["email"] = .text(content.names.relayAddress(account, team: client.group.team))
            event["is_private_email"] = .text("true")
        }
        return event
    }

    private static func json(_ members: [String: JsonValue]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(members), as: UTF8.self)
    }
}

/// Posts notifications to the address that a group registered (apple §2.9).
struct NotificationPost: Sendable {
    private struct Message: Encodable {
        let payload: String
    }

    /// - Returns: The status of the answer; 0 when there was none within 15 s.
    func send(_ payload: String, to address: String) async -> Int {
        guard let body = try? JSONEncoder().encode(Message(payload: payload)) else { return 0 }
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        // The name of a stand-in: no version says anything of the cluster (RFC 9110 §10.1.5).
        request.headers.add(name: "User-Agent", value: "BoxofficeSandbox")
        request.body = .bytes(ByteBuffer(bytes: body))
        guard let response = try? await HTTPClient.shared.execute(request, timeout: .seconds(15)) else { return 0 }
        return Int(response.status.code)
    }
}
