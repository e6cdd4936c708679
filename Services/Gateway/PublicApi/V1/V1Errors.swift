internal import Faults
internal import GatewayEdge

/// Public error codes of the v1 API with their actions and statuses (rest-v1 §2.8).
struct ErrorTable {
    struct Row: Sendable {
        let code: String
        let action: String
        /// Statuses that the code may carry; the first is used where the HTTP status is none of them.
        let statuses: [Int]
    }

    /// The row of a fault's code; a code that the API does not list becomes `internal_error`.
    static func row(for code: Fault.Code) -> Row { row(for: code.rawValue) }

    /// The row of a fault's code as the endpoint names it.
    static func row(for code: Fault.Code, at endpoint: Endpoint, status: Int) -> Row {
        switch code {
        // Only 410 goes with authorization_expired (rest-v1 §2.8).
        case .authorizationExpired where status != 410: row(for: .authorizationNotFound)
        case .authenticationSessionMissing where endpoint == .preauthorize: row(for: "preauthorization_authentication_session_missing")
        case .authenticationSessionExpired where endpoint == .preauthorize: row(for: "preauthorization_authentication_session_expired")
        // The call has no code of its own for it (rest-v1 §2.8, bridge §12.1).
        case .authenticationSessionInvalidated where endpoint == .preauthorize: row(for: "preauthorization_authentication_session_missing")
        default: row(for: code)
        }
    }

    private static func row(for code: String) -> Row { byCode[code] ?? internalError }

    static let rows: [Row] = [
        Row(code: "invalid_requestor", action: "none", statuses: [400]),
        Row(code: "invalid_device_info", action: "none", statuses: [400]),
        Row(code: "invalid_device_id", action: "none", statuses: [400]),
        Row(code: "invalid_domain", action: "none", statuses: [400]),
        Row(code: "invalid_registration_code", action: "none", statuses: [404]),
        Row(code: "missing_resource", action: "none", statuses: [400, 412]),
        Row(code: "malformed_authz_request", action: "none", statuses: [400, 412]),
        Row(code: "preauthorization_denied_by_mvpd", action: "none", statuses: [403]),
        Row(code: "authorization_denied_by_mvpd", action: "none", statuses: [403]),
        Row(code: "authorization_denied_by_parental_controls", action: "none", statuses: [403]),
        Row(code: "authorization_denied_by_degradation_rule", action: "none", statuses: [403]),
        Row(code: "unknown_integration", action: "configuration", statuses: [400, 412]),
        Row(code: "too_many_resources", action: "configuration", statuses: [403]),
        Row(code: "authentication_session_issuer_mismatch", action: "authentication", statuses: [400]),
        Row(code: "authentication_session_invalidated", action: "authentication", statuses: [403]),
        Row(code: "authentication_session_missing", action: "authentication", statuses: [412, 403]),
        Row(code: "authentication_session_expired", action: "authentication", statuses: [412, 403]),
        Row(code: "preauthorization_authentication_session_missing", action: "authentication", statuses: [412]),
        Row(code: "preauthorization_authentication_session_expired", action: "authentication", statuses: [412]),
        Row(code: "authorization_denied_by_hba_policies", action: "authentication", statuses: [403]),
        Row(code: "authorization_denied_by_session_invalidated", action: "authentication", statuses: [403]),
        Row(code: "identity_not_recognized_by_mvpd", action: "authentication", statuses: [403]),
        Row(code: "authorization_not_found", action: "authorization", statuses: [404, 403]),
        Row(code: "authorization_expired", action: "authorization", statuses: [410]),
        Row(code: "network_received_error", action: "retry", statuses: [403]),
        Row(code: "network_connection_timeout", action: "retry", statuses: [403]),
        Row(code: "maximum_execution_time_exceeded", action: "retry", statuses: [403]),
        internalError,
    ]

    static let internalError = Row(code: "internal_error", action: "none", statuses: [500, 400, 405])

    private static let byCode = Dictionary(uniqueKeysWithValues: rows.map { ($0.code, $0) })
}

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

    private static let sessionMissing: [Endpoint: Int] = [
        .authnToken: 404, .authnTokenByCode: 404, .authzToken: 412, .preauthorize: 412, .userMetadata: 412, .sdkSession: 401,
    ]
    private static let sessionExpired: [Endpoint: Int] = [
        .authnToken: 410, .authnTokenByCode: 410, .authzToken: 412, .preauthorize: 412, .userMetadata: 412,
    ]
    private static let codeUnknown: [Endpoint: Int] = [.registrationCode: 404, .authnTokenByCode: 404, .checkAuthnByCode: 403, .preauthorize: 412]

    private static let denied: [Fault.Code] = [
        .authorizationDeniedByMvpd, .authorizationDeniedByParentalControls, .authorizationDeniedByHbaPolicies,
        .authorizationDeniedBySessionInvalidated, .authorizationDeniedByDegradationRule, .identityNotRecognizedByMvpd,
        .preauthorizationDeniedByMvpd, .tooManyResources, .networkReceivedError, .networkConnectionTimeout,
        .maximumExecutionTimeExceeded,
    ]

    private static let status: [Fault.Code: Int] = Dictionary(
        uniqueKeysWithValues: (Fault.Code.bad + [.invalidTemporaryAccessIdentity]).map { ($0, 400) } + denied.map { ($0, 403) }
            + Fault.Code.transient.map { ($0, 503) })
}

/// Texts of refusals: the documented ones where there are any (rest-v1 §2.8), else the fault's own.
enum ErrorTexts {
    static func message(_ fault: Fault, at endpoint: Endpoint, status: Int) -> String {
        if endpoint == .checkAuthnByCode, status == 403 { return "Forbidden" }
        if endpoint == .sdkSession, status == 401 { return "Data not found" }
        switch fault.code {
        case .authenticationSessionExpired where endpoint == .checkAuthn: return "Authentication token expired"
        case .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated:
            return byStatus[status] ?? "User not authenticated"
        case .authorizationNotFound, .authorizationExpired: return byStatus[status] ?? "User not authorized"
        case .invalidRegistrationCode where status == 404: return "Not Found"
        case .authorizationDeniedByMvpd: return "User not authorized"
        default: break
        }
        switch status {
        case 503: return "The service is temporarily unavailable."
        case 500: return "An internal fault occurred."
        default: return fault.message
        }
    }

    /// For a resource of a preauthorization.
    static func item(_ action: String) -> String {
        action == "retry" ? "The MVPD could not be asked." : "User not authorized"
    }

    private static let byStatus = [404: "Not Found", 410: "Gone"]
}
