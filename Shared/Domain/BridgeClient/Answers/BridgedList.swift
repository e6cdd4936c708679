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
