internal import Octets

/// States whether a resource is part of what the person subscribed to (rest-v1 §3.16). It is no permission to play.
public struct Decision: Sendable, Hashable, Codable {
    public let resource: Resource.ID
    public let isAuthorized: Bool
    /// Why not, when the server says so.
    public let status: PreauthorizationStatus?

    /// - Parameters:
    ///   - resource: The resource that was asked about.
    ///   - isAuthorized: True when the subscription covers it.
    ///   - status: Why not, when the server says so.
    public init(resource: Resource.ID, isAuthorized: Bool, status: PreauthorizationStatus? = nil) {
        self.resource = resource
        self.isAuthorized = isAuthorized
        self.status = status
    }
}

/// A cache that a preauthorization can leave unused.
public enum PreauthorizationFeature: String, Sendable, Hashable, CaseIterable {
    /// The library's own.
    case localCache = "LOCAL_CACHE"
    /// Those between the app and the provider.
    case remoteCache = "REMOTE_CACHE"
}

/// Why a preauthorization, or one of its decisions, failed (client-sdk §1.4).
public struct PreauthorizationStatus: Sendable, Hashable, Codable {
    /// The action that the app should take.
    public enum Action: String, Sendable, Hashable, Codable {
        case none
        case configuration
        case applicationRegistration = "application-registration"
        case authentication
        case authorization
        case degradation
        case retry
        case retryAfter = "retry-after"
    }

    /// HTTP status code; 0 when the library failed before there was one.
    public let status: Int
    /// For example `authentication_session_missing`.
    public let code: String
    public let action: Action
    public let message: String?
    /// The provider's or programmer's own text.
    public let details: String?
    public let helpURL: String?
    /// Names this failure in the server's logs.
    public let trace: String?

    /// - Parameters:
    ///   - status: HTTP status code; 0 when the library failed before there was one.
    ///   - code: The error's name, for example `authentication_session_missing`.
    ///   - action: The action that the app should take.
    ///   - message: The event, for developers.
    ///   - details: The provider's or programmer's own text.
    ///   - helpURL: A page about the error.
    ///   - trace: Names this failure in the server's logs.
    public init(
        status: Int, code: String, action: Action, message: String? = nil, details: String? = nil, helpURL: String? = nil, trace: String? = nil
    ) {
        self.status = status
        self.code = code
        self.action = action
        self.message = message
        self.details = details
        self.helpURL = helpURL
        self.trace = trace
    }
}

extension PreauthorizationStatus {
    static let requestorNotConfigured = PreauthorizationStatus(status: 0, code: "requestor_not_configured", action: .retry)
    static let sessionMissing = PreauthorizationStatus(status: 0, code: "authentication_session_missing", action: .authentication)
    static let sessionExpired = PreauthorizationStatus(status: 0, code: "authentication_session_expired", action: .authentication)
    static let noAccessToken = PreauthorizationStatus(status: 0, code: "access_token_unavailable", action: .none)
    static let unknownFormat = PreauthorizationStatus(status: 0, code: "server_response_format_unknown", action: .none)
    static let networkError = PreauthorizationStatus(status: 0, code: "network_error", action: .none)
}
