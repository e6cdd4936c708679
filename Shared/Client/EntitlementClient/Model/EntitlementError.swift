internal import Octets

/// Why an operation of ``EntitlementClient`` did not succeed.
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

/// Why a resource may not be played.
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
