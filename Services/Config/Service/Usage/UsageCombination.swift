internal import Catalogue
internal import Contracts
internal import Cryptography

/// Values of all dimensions but time and event, as reports show them.
struct UsageCombination: Hashable, Sendable {
    /// Those that a row of the store has, in the order of its columns.
    static let stored: [UsageDimension] = [
        .mediaCompany, .dc, .proxy, .mvpd, .requestorID, .channel, .resourceID, .device, .eap, .osFamily, .browserFamily, .cdt, .platformVersion,
        .osType, .browserVersion, .reason, .ssoType, .platform, .applicationName, .applicationVersion, .customerApp, .api, .decisionType,
    ]
    /// Columns, in the same order.
    static let columns = stored.map { dimension in String(dimension.rawValue.map { $0 == "-" ? "_" : $0 }) }

    private static let places = Dictionary(uniqueKeysWithValues: stored.enumerated().map { ($1, $0) })

    /// Does not apply, or is not known to anybody here.
    static let none = "N/A"
    static let unknown = "Unknown"
    /// Nothing failed. Programs filter by `reason!=None` (clients #94).
    static let noReason = "None"
    /// There was no room to tell it apart.
    static let other = "other"
    static let sdk = "SDK"

    /// In the order of `stored`.
    private(set) var values: [String]

    init(values: [String]) { self.values = values }

    /// - Parameter dimension: Neither of time nor the event.
    subscript(dimension: UsageDimension) -> String {
        if let place = Self.places[dimension] { return values[place] }
        return switch dimension {
        // The name of the vendor's SDK on each platform; another client has none.
        case .nsdk: self[.api] == Self.sdk ? self[.platform] : "not-sdk"
        case .arch: self[.api] == Self.sdk ? "native" : "clientless"
        default: Self.none
        }
    }

    /// The digest that tells it from others, in few octets.
    var digest: [UInt8] {
        // No value has a control character.
        Array(SHA256.hash(values.joined(separator: "\u{1F}")).prefix(16))
    }

    /// The same without what devices and apps say.
    var collapsed: UsageCombination {
        let kept: Set<UsageDimension> = [.mediaCompany, .dc, .proxy, .mvpd, .requestorID, .api, .decisionType]
        return UsageCombination(values: zip(Self.stored, values).map { kept.contains($0) ? $1 : Self.other })
    }
}

extension UsageCombination {
    /// - Parameter dataCenter: As the copy that counted names it.
    init(_ counted: UsageDimensions, dataCenter: String, in catalogue: Catalogue) {
        let mvpd = catalogue.mvpd(counted.mvpdID)
        let application = catalogue.application(counted.applicationID)
        let values: [UsageDimension: String] = [
            .mediaCompany: Self.shown(catalogue.requestor(counted.requestorID)?.programmerID ?? ""), .dc: Self.shown(dataCenter),
            .proxy: mvpd?.isProxied == true ? Self.shown(mvpd?.proxyMvpdID ?? "") : "Direct", .mvpd: Self.shown(counted.mvpdID),
            .requestorID: Self.shown(counted.requestorID), .channel: Self.shown(counted.channel, else: Self.none),
            .resourceID: Self.shown(counted.resourceID, else: Self.none), .device: Self.shown(counted.device),
            .eap: Self.shown(counted.externalProvider, else: Self.none), .osFamily: Self.shown(counted.osFamily),
            .browserFamily: Self.shown(counted.browserFamily, else: Self.none), .cdt: Self.shown(counted.clientType, else: Self.none),
            .platformVersion: Self.shown(counted.osVersion), .osType: Self.shown(counted.osType),
            .browserVersion: Self.shown(counted.browserVersion, else: Self.none), .reason: Self.shown(counted.reason, else: Self.noReason),
            .ssoType: Self.shown(counted.ssoType, else: Self.none), .platform: Self.name(counted.platform),
            .applicationName: Self.shown(application?.name ?? counted.applicationID), .applicationVersion: Self.shown(application?.version ?? ""),
            .customerApp: Self.shown(counted.customerApplication, else: Self.none), .api: Self.name(counted.api),
            .decisionType: Self.shown(counted.decisionType, else: Self.none),
        ]
        self.init(values: Self.stored.map { values[$0] ?? Self.none })
        if counted.isOther { self = collapsed }
    }

    private static func shown(_ text: String, else absent: String = unknown) -> String {
        guard !text.isEmpty else { return absent }
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }

    private static func name(_ api: UsageApi) -> String {
        switch api {
        case .sdk: sdk
        case .restV2: "REST v2"
        case .restV1, .unrecognized: "REST v1"
        }
    }

    private static func name(_ platform: Platform) -> String {
        switch platform {
        case .ios: "iOS"
        case .tvos: "tvOS"
        case .roku: "Roku"
        case .fireTv: "FireTV"
        case .android: "Android"
        case .desktop: "Desktop"
        case .otherMobile: "OtherMobile"
        case .otherTv: "OtherTV"
        case .unknown, .unrecognized: unknown
        }
    }
}
