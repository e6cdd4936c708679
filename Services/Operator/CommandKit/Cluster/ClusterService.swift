/// A program of the local cluster, in the order in which a request meets the services from the inside out.
package enum ClusterService: String, CaseIterable, Sendable {
    case config
    case authentication
    case authorization
    case autosignin
    case gateway
    case sandbox

    /// Place in the port plan; the sandbox is outside it.
    package var index: Int {
        switch self {
        case .gateway: 0
        case .config: 1
        case .authentication: 2
        case .authorization: 3
        case .autosignin: 4
        case .sandbox: 5
        }
    }

    /// The environment that it needs beside its settings: in a local cluster Apple is the sandbox, which speaks plain HTTP (apple §3).
    package var environment: [String: String] { self == .autosignin ? ["APPLE_STANDIN": "1"] : [:] }

    /// Name in its certificate.
    package var certificateName: String { "\(rawValue).boxoffice" }

    /// Folder below `Services`.
    package var folder: String {
        switch self {
        case .config: "Config"
        case .authentication: "Authentication"
        case .authorization: "Authorization"
        case .autosignin: "AutoSignIn"
        case .gateway: "Gateway"
        case .sandbox: "Sandbox"
        }
    }
}
