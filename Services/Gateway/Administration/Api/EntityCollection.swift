internal import Contracts
internal import TextEncodings

/// The collections of the administration API, and what they are called there.
enum EntityCollection: String, CaseIterable, Sendable {
    case programmers
    case requestors
    case mvpds
    case integrations
    case applications
    case platformIdentityIssuers = "platform-identity-issuers"
    case serviceTokenIssuers = "service-token-issuers"
    case upstreams

    static let base = "/admin/v1"

    var path: String { "\(Self.base)/\(rawValue)" }

    var kind: EntityKind {
        switch self {
        case .programmers: .programmer
        case .requestors: .requestor
        case .mvpds: .mvpd
        case .integrations: .integration
        case .applications: .application
        case .platformIdentityIssuers: .platformIdentityIssuer
        case .serviceTokenIssuers: .serviceTokenIssuer
        case .upstreams: .upstream
        }
    }

    /// Whether its entries are named by an issuer, which is a URL.
    var isNamedByIssuer: Bool { self == .platformIdentityIssuers || self == .serviceTokenIssuers }

    /// Path of one entry for the router; an integration is named by both of its ends.
    var entryPath: String { self == .integrations ? "\(path)/{requestor}/{mvpd}" : "\(path)/{id}" }

    /// The address of an entry.
    func address(of id: String) -> String {
        let parts =
            self == .integrations
            ? id.split(separator: "/", maxSplits: 1).map(String.init) : [isNamedByIssuer ? Self.escape(id) : id]
        return ([path] + parts.map(PercentEncoding.encode)).joined(separator: "/")
    }
}

extension EntityCollection {
    /// An id as one segment of a path: an issuer is a URL, and no segment holds a slash. `~1` stands for `/` and `~0` for `~` (RFC 6901 §3).
    static func escape(_ id: String) -> String { id.replacing("~", with: "~0").replacing("/", with: "~1") }

    /// The id that a segment stands for.
    static func unescape(_ segment: String) -> String { segment.replacing("~1", with: "/").replacing("~0", with: "~") }
}

extension EntityKind {
    /// The word of the API for one of the kind.
    var word: String {
        switch self {
        case .programmer: "programmer"
        case .requestor: "requestor"
        case .mvpd: "mvpd"
        case .integration: "integration"
        case .application: "application"
        case .platformIdentityIssuer: "platformIdentityIssuer"
        case .serviceTokenIssuer: "serviceTokenIssuer"
        case .upstream: "upstream"
        case .unknown, .unrecognized: "unknown"
        }
    }
}
