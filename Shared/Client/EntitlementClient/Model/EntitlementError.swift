public import Foundation
internal import Octets

/// An operation of ``EntitlementClient`` did not succeed for one of these reasons.
public enum EntitlementError: Error, Sendable, Hashable {
    /// There is no configuration: ``EntitlementClient/configure(requestor:endpoints:)`` was not called or failed.
    case notConfigured
    /// The configuration could not be fetched.
    case configurationFailed(StatusCode)
    /// The device is not signed in.
    case notAuthenticated
    /// The person, or the app by cancelling the task, cancelled the sign-in.
    case providerNotSelected
    /// The sign-in failed; the code says why when there is one.
    case authenticationFailed(StatusCode?)
    /// No media token.
    case denied(AuthorizationDenial)
    /// A preauthorization failed; `status.status` is 0 when it did not reach the server.
    case preauthorizationFailed(PreauthorizationStatus)
    /// Automatic Sign-In cannot be set up or ended; the text is the server's code or says what is missing.
    case automaticSignIn(String)
}

/// A resource may not be played for this reason.
public struct AuthorizationDenial: Error, Sendable, Hashable {
    /// A code of the table of `tokenRequestFailed` (client-sdk §1.1).
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case notAuthorized = "USER_NOT_AUTHORIZED_ERROR"
        case notAuthenticated = "USER_NOT_AUTHENTICATED_ERROR"
        case generic = "GENERIC_AUTHORIZATION_ERROR"
        case `internal` = "INTERNAL_AUTHORIZATION_ERROR"
    }

    public let code: Code
    /// The advanced code that was sent with it.
    public let statusCode: StatusCode?
    /// For the person, in the provider's own words; may be empty.
    public let text: String

    public init(code: Code, statusCode: StatusCode?, text: String = "") {
        self.code = code
        self.statusCode = statusCode
        self.text = text
    }
}

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

/// A preauthorization, or one of its decisions, failed for this reason (client-sdk §1.4).
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

/// An event of a running operation. The result of the operation comes after all its events.
public enum EntitlementEvent: Sendable, Hashable {
    /// An advanced code.
    case status(Status)
    case tracking(Tracking)
    /// The device could not keep something (full, locked or broken storage). The operation went on; after a restart the person may have to sign in again.
    case storageFailed(StoreFailure)
}

/// Figures for the app's analytics (client-sdk §1.5).
public enum Tracking: Sendable, Hashable {
    /// - Parameters:
    ///   - userID: Stable for a person, see ``Session/userID``; empty without a session.
    ///   - isCached: The session existed before.
    case authentication(isSuccess: Bool, provider: Provider.ID?, userID: String, isCached: Bool, device: TrackedDevice)
    /// - Parameter error: The advanced code of a refusal, or empty.
    case authorization(
        isSuccess: Bool, provider: Provider.ID?, userID: String, isCached: Bool, error: String, details: String, device: TrackedDevice)
    case selectedProvider(Provider.ID?, device: TrackedDevice)
}

/// The device, as analytics see it.
public struct TrackedDevice: Sendable, Hashable {
    /// `computer`, `tablet`, `mobile`, `gameconsole` or `unknown`.
    public let deviceType: String
    /// `ios`.
    public let clientType: String
    /// Name and version of the system.
    public let system: String

    public init(deviceType: String, clientType: String = "ios", system: String) {
        (self.deviceType, self.clientType, self.system) = (deviceType, clientType, system)
    }
}

/// A person's sign-in at a provider, for one requestor on this device.
public struct Session: Sendable, Hashable {
    /// A session came from one of these places (client-sdk §2.1, T).
    public enum Source: String, Sendable, Hashable, Codable {
        /// A login, with the password or by an Automatic Sign-In value.
        case regular
        /// The platform's single sign-on.
        case apple
        /// A trial without an account.
        case tempPass
        /// Made by the server without the provider, which is out of order.
        case degraded
    }

    public let requestor: Requestor.ID
    public let provider: Provider.ID
    public let source: Source
    /// When it ends, by the server's clock.
    public let expires: Date
    /// The person's scrambled id. Over version 1 of the API it is that of the media token (`sessionGUID`). Version 2 does not tell it: there it is
    /// the library's own.
    public let userID: String

    /// - Parameters:
    ///   - requestor: The requestor that the session is for.
    ///   - provider: The provider at which the person is signed in.
    ///   - source: Where the session came from.
    ///   - expires: By the server's clock.
    ///   - userID: The person's scrambled id.
    public init(requestor: Requestor.ID, provider: Provider.ID, source: Source, expires: Date, userID: String) {
        self.requestor = requestor
        self.provider = provider
        self.source = source
        self.expires = expires
        self.userID = userID
    }
}

/// The result of a check of the session (client-sdk §2.3).
public enum AuthenticationState: Sendable, Hashable {
    case authenticated(Session)
    /// - Parameter reason: The advanced code that says why.
    case notAuthenticated(reason: StatusCode)
}

/// The result of a sign-out.
public struct SignOutResult: Sendable, Hashable {
    /// True: the platform would sign the person in again at the next launch, until they sign out in its settings (VSA203).
    public let mustSignOutInSettings: Bool

    public init(mustSignOutInSettings: Bool) { self.mustSignOutInSettings = mustSignOutInSettings }
}
