public import Clocks
public import OutboundHttp
internal import StrictJson

/// The providers that the upstream offers at a service provider to devices of one platform (rest-v2 §2.1).
public struct BridgedList: Hashable, Sendable {
    public let providers: [BridgedProvider]
    /// Domains that are registered upstream, in its order.
    public let domains: [String]
    /// Ids that were left out: they break the pattern of ids, or came twice.
    public let dropped: [String]

    private static let most = 5000

    /// - Throws: `BridgeFailure`; `unusable` without `requestor.mvpds`.
    public init(_ answer: OutboundAnswer) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer)
        // Where the sample has it, and where the prose has it.
        guard let entries = (body["requestor"]?["mvpds"] ?? body["mvpds"])?.elements else { throw .unusable("requestor.mvpds is missing") }
        guard entries.count <= Self.most else { throw .unusable("more than \(Self.most) providers") }
        var known: Set<OctetText> = []
        var providers: [BridgedProvider] = []
        var dropped: [String] = []
        for entry in entries {
            guard let provider = BridgedProvider(entry), known.insert(provider.id).inserted else {
                dropped.append(String(decoding: (entry["id"]?.string ?? "").utf8.prefix(128), as: UTF8.self))
                continue
            }
            providers.append(provider)
        }
        self.providers = providers
        self.dropped = dropped
        domains = body["requestor"]?["domains"]?.elements?.compactMap { $0["name"]?.string } ?? []
    }
}

/// A provider in an upstream's list.
public struct BridgedProvider: Hashable, Sendable {
    /// Upstream's.
    public let id: String
    public let displayName: String
    public let logoURL: String
    public let isTemporaryPass: Bool
    public let isProxy: Bool
    public let authPerAggregator: Bool
    public let authPerBrowserSession: Bool
    /// `SUPPORTED`, `PICKER` or empty.
    public let boardingStatus: String
    /// The provider's id in the platform's own sign-in; empty: none.
    public let platformMappingID: String
    public let enablesPlatformServices: Bool
    public let isInPlatformPicker: Bool
    public let enforcesPlatformPermissions: Bool

    /// As another service read it.
    public init(
        id: String, displayName: String, logoURL: String, isTemporaryPass: Bool, isProxy: Bool, authPerAggregator: Bool, authPerBrowserSession: Bool
    ) {
        self.id = id
        self.displayName = displayName
        self.logoURL = logoURL
        self.isTemporaryPass = isTemporaryPass
        self.isProxy = isProxy
        self.authPerAggregator = authPerAggregator
        self.authPerBrowserSession = authPerBrowserSession
        (boardingStatus, platformMappingID) = ("", "")
        (enablesPlatformServices, isInPlatformPicker, enforcesPlatformPermissions) = (false, false, false)
    }

    private static let longestName = 256
    private static let longestAddress = 2048

    /// - Returns: `nil` when the id is none: 1 to 128 letters, digits, `_` and `-`, the first a letter or a digit.
    init?(_ entry: JsonNode) {
        guard let id = entry["id"]?.string, Self.isID(id) else { return nil }
        self.id = id
        let name = entry["displayName"]?.string ?? ""
        displayName = name.isEmpty || name.utf8.count > Self.longestName ? id : name
        let logo = entry["logoUrl"]?.string ?? ""
        logoURL = logo.hasPrefix("https://") && logo.utf8.count <= Self.longestAddress ? logo : ""
        isTemporaryPass = entry["isTempPass"]?.bool ?? false
        isProxy = entry["isProxy"]?.bool ?? false
        authPerAggregator = entry["authPerAggregator"]?.bool ?? false
        authPerBrowserSession = entry["authPerBrowserSession"]?.bool ?? false
        boardingStatus = entry["boardingStatus"]?.string.flatMap { ["SUPPORTED", "PICKER"].contains($0) ? $0 : nil } ?? ""
        platformMappingID = entry["platformMappingId"]?.string.flatMap { $0.utf8.count <= Self.longestName ? $0 : nil } ?? ""
        enablesPlatformServices = entry["enablePlatformServices"]?.bool ?? false
        isInPlatformPicker = entry["displayInPlatformPicker"]?.bool ?? false
        enforcesPlatformPermissions = entry["enforcePlatformPermissions"]?.bool ?? false
    }

    private static func isID(_ text: String) -> Bool {
        func isAlphanumeric(_ octet: UInt8) -> Bool {
            (0x30...0x39).contains(octet) || (0x41...0x5a).contains(octet) || (0x61...0x7a).contains(octet)
        }
        guard (1...128).contains(text.utf8.count), let first = text.utf8.first, isAlphanumeric(first) else { return false }
        return text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x5f || $0 == 0x2d }
    }
}

/// The management host's answer to a reset of trials (rest-v2 §2.14).
public enum BridgedReset {
    /// - Throws: `BridgeFailure` unless it was done.
    public static func check(_ answer: OutboundAnswer) throws(BridgeFailure) {
        guard answer.status != 204 else { return }
        _ = try BridgeAnswer.document(answer)
    }
}

/// The session that a code stands for at the upstream (rest-v2 §2.4).
public struct BridgedSessionView: Hashable, Sendable {
    public let serviceProvider: String
    public let mvpd: String
    /// The upstream's reading of the device: `model`, `type`, `operatingSystem.name`, …; only texts.
    public let device: [String: String]

    private static let mostMembers = 64
    private static let longestValue = 512

    /// - Throws: `BridgeFailure`; `unusable` without `existingParameters` or `device`.
    public init(_ answer: OutboundAnswer) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer)
        guard let existing = body["existingParameters"] else { throw .unusable("existingParameters is missing") }
        guard let device = body["device"], device.members != nil else { throw .unusable("device is missing") }
        serviceProvider = existing["serviceProvider"]?.string ?? ""
        mvpd = existing["mvpd"]?.string ?? ""
        var told: [String: String] = [:]
        for member in (device.members ?? []).prefix(Self.mostMembers) {
            if let text = member.value.string { told[member.name] = Self.cut(text) }
            for inner in (member.value.members ?? []).prefix(Self.mostMembers) {
                if let text = inner.value.string { told["\(member.name).\(inner.name)"] = Self.cut(text) }
            }
        }
        self.device = told
    }

    private static func cut(_ text: String) -> String { String(decoding: text.utf8.prefix(longestValue), as: UTF8.self) }
}

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
    /// The kind in upstream's word: at most 64 letters, digits, `_` and `-`; others are `?`.
    public let type: String
    public let start: Timestamp
    public let end: Timestamp
    public let attributes: [BridgedAttribute]

    private static let mostAttributes = 100
    private static let mostProfiles = 500
    private static let longestWord = 64

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
        guard let start = try profile.moment("notBefore"), let end = try profile.moment("notAfter") else {
            throw .unusable("a profile lacks its times")
        }
        let attributes = profile["attributes"]?.members ?? []
        guard attributes.count <= Self.mostAttributes else { throw .unusable("a profile has more than \(Self.mostAttributes) attributes") }
        self.mvpd = mvpd
        let type = profile["type"]?.string ?? ""
        (kind, self.type) = (Kind(rawValue: type) ?? .unknown, Self.word(type))
        self.start = start
        self.end = end
        self.attributes = attributes.compactMap { BridgedAttribute($0.name, $0.value) }
    }

    init(_ other: BridgedProfile, start: Timestamp, end: Timestamp) {
        (mvpd, kind, type, attributes) = (other.mvpd, other.kind, other.type, other.attributes)
        (self.start, self.end) = (start, end)
    }

    private static func word(_ text: String) -> String {
        let octets = text.utf8.prefix(longestWord).map { octet -> UInt8 in
            switch octet {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d: octet
            default: 0x3f
            }
        }
        return String(decoding: octets, as: UTF8.self)
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
