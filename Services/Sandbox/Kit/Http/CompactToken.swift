internal import FoundationEssentials

/// A JWS in compact form, parsed but not verified yet (RFC 7515 §3.1).
struct CompactToken: Sendable {
    let header: [String: AppleClaim]
    let claims: [String: AppleClaim]
    let signingInput: [UInt8]
    let signature: [UInt8]

    /// - Returns: nil unless the text has three parts in base64url and the first two are JSON objects.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, text.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || Self.isURLAlphabet($0) }),
            let header = Self.object(parts[0]), let claims = Self.object(parts[1]), let signature = Base64.urlOctets(String(parts[2]))
        else { return nil }
        (self.header, self.claims, self.signature) = (header, claims, signature)
        signingInput = Array("\(parts[0]).\(parts[1])".utf8)
    }

    private static func object(_ part: Substring) -> [String: AppleClaim]? {
        guard let octets = Base64.urlOctets(String(part)) else { return nil }
        return try? JSONDecoder().decode([String: AppleClaim].self, from: Data(octets))
    }

    private static func isURLAlphabet(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
        }
    }
}
