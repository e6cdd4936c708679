internal import Cryptography
internal import StrictJson

/// The claims of an upstream's media token, as far as they can be read. Nothing of it is checked, and it is handed on as it came (bridge §9.4).
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

    /// The claims of a compact JWS; `nil`: it is none.
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

    /// The XML of the reference form, which is Base64.
    private static func xml(_ text: String) -> [UInt8]? { Base64.standard.decode(text) }

    /// Searched by octets: as characters it took a tenth of what a decision costs.
    private static func element(_ name: String, of xml: [UInt8]) -> String? {
        guard let start = end(of: "<\(name)>", in: xml[...]), let rest = end(of: "</\(name)>", in: xml[start...]) else { return nil }
        let value = xml[start..<(rest - name.utf8.count - 3)]
        return value.contains { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") } ? nil : String(validating: value, as: UTF8.self)
    }

    /// Returns where the first occurrence of a text ends.
    private static func end(of text: String, in octets: ArraySlice<UInt8>) -> Int? {
        let pattern = Array(text.utf8)
        return octets.withUnsafeBufferPointer { buffer in
            guard buffer.count >= pattern.count else { return nil }
            for place in 0...(buffer.count - pattern.count) where buffer[place] == pattern[0] {
                guard pattern.indices.dropFirst().allSatisfy({ buffer[place + $0] == pattern[$0] }) else { continue }
                return octets.startIndex + place + pattern.count
            }
            return nil
        }
    }
}
