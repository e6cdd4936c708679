internal import FoundationEssentials

/// By which a promotional free trial knows a person (rest-v2 §1.3).
struct TempPassIdentity: Sendable, Hashable {
    /// A digest in hexadecimal; nil for a basic trial, which needs none.
    let hash: String?

    /// - Throws: `invalid_header_identity_for_temporary_access` when a promotional trial lacks it.
    init(_ call: UpstreamCall, _ terms: UpstreamCatalogue.Mvpd.TempPass) throws(UpstreamRefusal) {
        guard terms.resources != nil else {
            hash = nil
            return
        }
        guard let header = call.header("ap-temppass-identity"), let hash = Self.hash(header) else { throw UpstreamRefusal(.invalidTempPassIdentity) }
        self.hash = hash
    }

    init(hash: String?) { self.hash = hash }

    /// A value that is no digest is hashed (rest-v2 D14).
    static func hash(_ header: String) -> String? {
        guard let octets = Base64.octets(header), octets.count <= 4096,
            let members = try? JSONDecoder().decode([String: String].self, from: Data(octets)),
            let value = members.sorted(by: { $0.key < $1.key }).first?.value, !value.isEmpty
        else { return nil }
        let isDigest = [56, 64, 96, 128].contains(value.utf8.count) && value.utf8.allSatisfy(isHexadecimal)
        return isDigest ? value.lowercased() : Hexadecimal.text(Digest.sha256(Array(value.utf8)))
    }

    private static func isHexadecimal(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
