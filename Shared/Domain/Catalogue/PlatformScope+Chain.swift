public import Contracts

extension PlatformScope {
    /// Where the settings of a device are looked up.
    /// - Parameter platform: `unknown` for a device that describes itself but is of no platform in the catalogue; `nil` when the device is unknown,
    ///   or no device is involved.
    public init(_ platform: Platform?) {
        switch platform {
        case nil: self = .all
        case .ios: self = .ios
        case .tvos: self = .tvos
        case .roku: self = .roku
        case .fireTv: self = .fireTv
        case .android: self = .android
        case .desktop: self = .desktop
        case .otherMobile: self = .mobile
        case .otherTv: self = .tv
        case .unknown, .unrecognized: self = .unidentified
        }
    }

    /// From the most general to this scope: *all › category › platform* (dashboard §3).
    public var chain: [PlatformScope] {
        switch self {
        case .all, .unrecognized: [.all]
        case .desktop, .mobile, .tv, .unidentified: [.all, self]
        case .ios, .android: [.all, .mobile, self]
        case .tvos, .roku, .fireTv: [.all, .tv, self]
        }
    }

    /// The platforms with single sign-on of their own that lie in this scope; empty where the switch has no effect (dashboard §2).
    public var singleSignOnPlatforms: [Platform] {
        switch self {
        case .all: [.ios, .tvos, .roku, .fireTv]
        case .mobile, .ios: [.ios]
        case .tv: [.tvos, .roku, .fireTv]
        case .tvos: [.tvos]
        case .roku: [.roku]
        case .fireTv: [.fireTv]
        case .desktop, .android, .unidentified, .unrecognized: []
        }
    }
}
