internal import Cryptography
internal import StrictJson

/// What a media token of an upstream says of itself, as far as it can be read; nothing of it is checked, and it is handed on as it came (bridge §9.4).
public struct UpstreamMediaToken: Sendable {
    private static let longestID = 256

    /// The person's id, as verifiers will see it; `nil`: it cannot be read.
    public let sessionGUID: String?
    /// The MVPD through which the person's is reached; `nil`: none, or it cannot be read.
    public let proxyMvpd: String?

    public init(_ serialized: String) {
        let claims = Self.claims(serialized)
        let xml = claims == nil ? Self.xml(serialized) : nil
        func value(_ names: String...) -> String? {
            for name in names {
                let found = claims.map { $0[OctetText(name)] } ?? xml.flatMap { Self.element(name, of: $0) }
                if let found, (1...Self.longestID).contains(found.utf8.count) { return found }
            }
            return nil
        }
        sessionGUID = value("sessionGUID", "sub")
        let proxy = value("proxyMvpdId", "proxyMvpd")
        proxyMvpd = proxy.flatMap { proxy in value("mvpdId", "mvpd").map { OctetText($0) == OctetText(proxy) } == true ? nil : proxy }
    }

    /// Of a compact JWS; `nil`: it is none.
    private static func claims(_ text: String) -> [OctetText: String]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let octets = Base64.url.decode(String(parts[1])), let root = try? JsonDocument(parsing: octets).root,
            case .object(let members) = root.content
        else { return nil }
        let texts = members.compactMap { member -> (String, String)? in
            if case .string(let value) = member.value.content { (member.name, value) } else { nil }
        }
        return Dictionary(texts: texts, uniquingKeysWith: { first, _ in first })
    }

    /// Of the reference form: XML in Base64.
    private static func xml(_ text: String) -> String? { Base64.standard.decode(text).flatMap { String(validating: $0, as: UTF8.self) } }

    private static func element(_ name: String, of xml: String) -> String? {
        guard let start = xml.firstRange(of: "<\(name)>")?.upperBound, let end = xml[start...].firstRange(of: "</\(name)>")?.lowerBound else {
            return nil
        }
        let value = String(xml[start..<end])
        return value.contains("&") || value.contains("<") ? nil : value
    }
}
