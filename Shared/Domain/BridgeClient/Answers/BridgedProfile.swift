public import Clocks
public import OutboundHttp
internal import StrictJson

/// Proof at the upstream that a device is signed in (rest-v2 §2.6).
public struct BridgedProfile: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case regular
        case degraded
        case temporary
        case appleSSO
        case platformSSO
        case serviceTokenSSO
        /// A kind that came later; it counts as a regular one.
        case unknown
    }

    /// Upstream's.
    public let mvpd: String
    public let kind: Kind
    public let start: Timestamp
    public let end: Timestamp
    public let attributes: [BridgedAttribute]

    private static let mostAttributes = 100
    private static let mostProfiles = 500

    /// The profiles of an answer, in its order.
    /// - Parameter created: True where 201 is a yes, too.
    /// - Throws: `BridgeFailure`; `unusable` without `profiles`, or when one lacks its times.
    public static func all(_ answer: OutboundAnswer, created: Bool = false) throws(BridgeFailure) -> [BridgedProfile] {
        let body = try BridgeAnswer.document(answer, accepted: created ? [200, 201] : [200])
        guard let entries = body["profiles"]?.members else { throw .unusable("profiles is missing") }
        guard entries.count <= mostProfiles else { throw .unusable("more than \(mostProfiles) profiles") }
        var profiles: [BridgedProfile] = []
        for entry in entries { profiles.append(try BridgedProfile(entry.name, entry.value)) }
        return profiles
    }

    private init(_ mvpd: String, _ profile: JsonNode) throws(BridgeFailure) {
        guard let start = profile["notBefore"]?.moment, let end = profile["notAfter"]?.moment else { throw .unusable("a profile lacks its times") }
        let attributes = profile["attributes"]?.members ?? []
        guard attributes.count <= Self.mostAttributes else { throw .unusable("a profile has more than \(Self.mostAttributes) attributes") }
        self.mvpd = mvpd
        kind = profile["type"]?.string.flatMap { Kind(rawValue: $0) } ?? .unknown
        self.start = start
        self.end = end
        self.attributes = attributes.compactMap { BridgedAttribute($0.name, $0.value) }
    }

    init(_ other: BridgedProfile, start: Timestamp, end: Timestamp) {
        (mvpd, kind, attributes) = (other.mvpd, other.kind, other.attributes)
        (self.start, self.end) = (start, end)
    }

    public subscript(attribute name: String) -> BridgedAttribute? { attributes.first { $0.name == name } }
}

/// A metadata attribute as upstream gave it.
public struct BridgedAttribute: Hashable, Sendable {
    public let name: String
    /// The value as JSON: a text, a number, a boolean, a list or an object.
    public let json: String
    /// Encrypted with the programmer's certificate: it goes on as it is.
    public let isEncrypted: Bool

    public init(name: String, json: String, isEncrypted: Bool) {
        self.name = name
        self.json = json
        self.isEncrypted = isEncrypted
    }

    init?(_ name: String, _ attribute: JsonNode) {
        guard !name.isEmpty, let value = attribute["value"] else { return nil }
        self.init(name: name, json: value.text, isEncrypted: ["enc", "encrypted"].contains(attribute["state"]?.string ?? "plain"))
    }

    /// The value, where it is a plain text.
    public var plainText: String? {
        guard !isEncrypted, let node = try? JsonDocument(parsing: Array(json.utf8)).root else { return nil }
        return node.string
    }
}
