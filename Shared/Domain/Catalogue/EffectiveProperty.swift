public import Contracts

/// The effective value of an integration's property on a platform, and the level that set it (dashboard §3).
public struct EffectiveProperty: Hashable, Sendable {
    public enum Value: Hashable, Sendable {
        /// Seconds, pixels or a count, as the property's name says.
        case number(UInt32)
        case flag(Bool)
        case text(String)
    }

    /// The level that set the value; its `description` is the word that the admin API uses.
    public enum Source: Hashable, Sendable, CustomStringConvertible {
        /// Not set on any level.
        case deployment
        case mvpd
        case mvpdPlatform(PlatformScope)
        case integration
        case integrationPlatform(PlatformScope)

        public var description: String {
            switch self {
            case .deployment: "default"
            case .mvpd: "mvpd"
            case .mvpdPlatform(let scope): "mvpd:\(scope.name)"
            case .integration: "integration"
            case .integrationPlatform(let scope): "integration:\(scope.name)"
            }
        }
    }

    /// Its name in catalogue documents.
    public let name: String
    public let value: Value
    public let source: Source
    /// A value on the level of the MVPD that must not be removed (dashboard #17).
    public let isMandatory: Bool
}

extension PlatformScope {
    /// Its name in catalogue documents.
    public var name: String {
        switch self {
        case .all, .unrecognized: "all"
        case .desktop: "desktop"
        case .mobile: "mobile"
        case .ios: "ios"
        case .android: "android"
        case .tv: "tv"
        case .tvos: "tvos"
        case .roku: "roku"
        case .fireTv: "fireTv"
        case .unidentified: "unidentified"
        }
    }
}
