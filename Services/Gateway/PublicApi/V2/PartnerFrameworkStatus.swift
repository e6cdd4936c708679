internal import Contracts
internal import Cryptography
internal import GatewayEdge
internal import Hummingbird
internal import StrictJson

/// `AP-Partner-Framework-Status`: what the platform's sign-in framework told the app, a JSON object as Base64 (rest-v2 §1.3).
enum PartnerFrameworkStatus {
    /// In octets.
    private static let longest = 4096

    /// - Returns: `nil` when the header was not sent. What cannot be read is absent in the status: the service says what that means.
    static func sent(_ exchange: Exchange) -> PartnerStatus? {
        let sent = exchange.headers[values: .apPartnerFrameworkStatus]
        guard let encoded = sent.first else { return nil }
        guard sent.count == 1, encoded.utf8.count <= longest, let bytes = Base64.tolerant(encoded),
            let permission = object("frameworkPermissionInfo", in: bytes), let provider = object("frameworkProviderInfo", in: bytes)
        else { return PartnerStatus() }
        let expiry = value("expirationDate", of: provider)
        var end: UInt64 = 0
        if case .string(let digits) = expiry { end = UInt64(digits) ?? 0 }
        return PartnerStatus(
            access: access(text(value("accessStatus", of: permission))), providerID: text(value("id", of: provider)), expiresAtMilliseconds: end,
            hasUnreadableExpiry: isSent(expiry) && end == 0)
    }

    private static func object(_ name: String, in bytes: [UInt8]) -> [JsonMember]? {
        guard let document = try? JsonDocument(parsing: bytes), case .object(let members) = document.root.content,
            case .object(let object) = value(name, of: members)
        else { return nil }
        return object
    }

    private static func value(_ name: String, of members: [JsonMember]) -> JsonNode.Content? { members.first { $0.name == name }?.value.content }

    private static func isSent(_ content: JsonNode.Content?) -> Bool {
        switch content {
        case nil, .null: false
        default: true
        }
    }

    private static func text(_ content: JsonNode.Content?) -> String {
        guard case .string(let text) = content, !text.utf8.contains(0) else { return "" }
        return text
    }

    private static func access(_ text: String) -> PartnerAccess {
        switch text {
        case "": .absent
        case "granted": .granted
        case "notDetermined": .notDetermined
        default: .refused
        }
    }
}
