internal import Cryptography
internal import StrictJson

/// What a media token of an upstream says of itself, as far as it can be read; nothing of it is checked, and it is handed on as it came (bridge §9.4).
public struct UpstreamMediaToken: Sendable {
    private static let longestID = 256

    /// The person's id, as verifiers will see it; `nil`: it cannot be read.
    public let sessionGUID: String?

    public init(_ serialized: String) {
        sessionGUID = (Self.claim(serialized) ?? Self.element(serialized)).flatMap { (1...Self.longestID).contains($0.utf8.count) ? $0 : nil }
    }

    /// Of a compact JWS: `sub`, or `sessionGUID`.
    private static func claim(_ text: String) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let octets = Base64.url.decode(String(parts[1])), let root = try? JsonDocument(parsing: octets).root,
            case .object(let members) = root.content
        else { return nil }
        for name in ["sessionGUID", "sub"] {
            if case .string(let value)? = members.first(where: { $0.name == name })?.value.content { return value }
        }
        return nil
    }

    /// Of the reference form: XML in Base64.
    private static func element(_ text: String) -> String? {
        guard let octets = Base64.standard.decode(text), let xml = String(validating: octets, as: UTF8.self),
            let start = xml.firstRange(of: "<sessionGUID>")?.upperBound, let end = xml[start...].firstRange(of: "</sessionGUID>")?.lowerBound
        else { return nil }
        let value = String(xml[start..<end])
        return value.contains("&") || value.contains("<") ? nil : value
    }
}
