internal import Faults

/// HTTP status of a fault at an endpoint (rest-v1 §2.8).
enum StatusTable {
    /// - Parameter resourceIsAbsent: The request has no parameter `resource`, not even an empty one (rest-v1 §3.16).
    static func status(of code: Fault.Code, at endpoint: Endpoint, resourceIsAbsent: Bool = true) -> Int {
        switch code {
        case .missingResource where endpoint == .preauthorize: resourceIsAbsent ? 400 : 412
        case .unknownIntegration where endpoint == .preauthorize: 412
        case .authenticationSessionMissing: sessionMissing[endpoint] ?? 403
        case .authenticationSessionExpired: sessionExpired[endpoint] ?? 403
        case .authenticationSessionInvalidated: sessionMissing[endpoint] ?? 403
        case .authorizationNotFound: endpoint == .mediaToken ? 403 : 404
        case .authorizationExpired: endpoint == .mediaToken ? 403 : 410
        case .invalidRegistrationCode, .registrationCodeSpent: codeUnknown[endpoint] ?? 400
        case .tooManyRequests: 429
        default: status[code] ?? 500
        }
    }

    /// True for a fault that says nothing of the request: a dependency is away, full or too slow.
    static func isTransient(_ code: Fault.Code) -> Bool { transient.contains(code) }

    /// True for a fault that names what is wrong with the request.
    static func isBad(_ code: Fault.Code) -> Bool { bad.contains(code) }

    private static let sessionMissing: [Endpoint: Int] = [
        .authnToken: 404, .authnTokenByCode: 404, .authzToken: 412, .preauthorize: 412, .userMetadata: 412, .sdkSession: 401,
    ]
    private static let sessionExpired: [Endpoint: Int] = [
        .authnToken: 410, .authnTokenByCode: 410, .authzToken: 412, .preauthorize: 412, .userMetadata: 412,
    ]
    private static let codeUnknown: [Endpoint: Int] = [.registrationCode: 404, .authnTokenByCode: 404, .checkAuthnByCode: 403, .preauthorize: 412]

    private static let transient: Set<Fault.Code> = [
        .unavailable, .upstreamUnavailable, .overloaded, .deadlineExceeded, .cancelled, .storageFull,
    ]

    private static let bad: [Fault.Code] = [
        .invalidRequest, .invalidRequestor, .invalidDeviceID, .invalidDeviceInformation, .missingResource, .malformedAuthzRequest,
        .unknownIntegration, .invalidDomain, .invalidRedirectURL, .authenticationSessionIssuerMismatch,
    ]

    private static let denied: [Fault.Code] = [
        .authorizationDeniedByMvpd, .authorizationDeniedByParentalControls, .authorizationDeniedByHbaPolicies,
        .authorizationDeniedBySessionInvalidated, .authorizationDeniedByDegradationRule, .identityNotRecognizedByMvpd,
        .preauthorizationDeniedByMvpd, .tooManyResources, .networkReceivedError, .networkConnectionTimeout,
        .maximumExecutionTimeExceeded,
    ]

    private static let status: [Fault.Code: Int] = Dictionary(
        uniqueKeysWithValues: bad.map { ($0, 400) } + denied.map { ($0, 403) } + transient.map { ($0, 503) })
}
