internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Public error codes of Automatic Sign-In and Sign in with Apple with their actions and statuses (apple §2.2, §2.11, §4; rest-v2 §3).
enum AutoSignInErrors {
    /// The row of a fault's code; a code that these calls do not list becomes `internal_server_error`.
    static func row(for code: Fault.Code) -> ErrorTable.Row {
        if code.isTransient { return unavailable }
        return byCode[names[code] ?? code.rawValue] ?? internalError
    }

    /// The status is the first one of a row.
    static func status(_ row: ErrorTable.Row) -> HTTPResponse.Status { HTTPResponse.Status(code: row.statuses[0]) }

    static let invalidRequest = ErrorTable.Row(code: "invalid_request", action: "none", statuses: [400])
    static let methodNotAllowed = ErrorTable.Row(code: "method_not_allowed", action: "none", statuses: [405])
    static let notFound = ErrorTable.Row(code: "not_found", action: "none", statuses: [404])
    static let requestTimeout = ErrorTable.Row(code: "request_timeout", action: "retry", statuses: [408])
    static let requestTooLarge = ErrorTable.Row(code: "request_too_large", action: "none", statuses: [413])
    static let accountExists = ErrorTable.Row(code: "account_exists", action: "authentication", statuses: [409])
    static let confirmationRequired = ErrorTable.Row(code: "confirmation_required", action: "none", statuses: [409])
    private static let unavailable = ErrorTable.Row(code: "service_unavailable", action: "retry", statuses: [503])
    private static let internalError = ErrorTable.Row(code: "internal_server_error", action: "none", statuses: [500])

    static let rows: [ErrorTable.Row] = general + automaticSignIn + signInWithApple

    private static let general = [
        invalidRequest, notFound, methodNotAllowed, requestTimeout, requestTooLarge,
        ErrorTable.Row(code: "invalid_parameter_service_provider", action: "none", statuses: [400]),
        ErrorTable.Row(code: "invalid_header_device_identifier", action: "none", statuses: [400]),
        ErrorTable.Row(code: "invalid_header_device_info", action: "none", statuses: [400]),
        ErrorTable.Row(code: "invalid_integration", action: "none", statuses: [400]),
        ErrorTable.Row(code: "invalid_access_token_client_application", action: "application-registration", statuses: [401]),
        ErrorTable.Row(code: "invalid_access_token_service_provider", action: "application-registration", statuses: [401]),
        ErrorTable.Row(code: "authenticated_profile_missing", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "authenticated_profile_expired", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "authenticated_profile_invalidated", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "step_up_required", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "idempotency_key_reused", action: "none", statuses: [409]),
        ErrorTable.Row(code: "rate_limited", action: "retry", statuses: [429]),
        unavailable, internalError,
    ]

    private static let automaticSignIn = [
        ErrorTable.Row(code: "opt_in_required", action: "none", statuses: [403]),
        ErrorTable.Row(code: "session_not_fresh", action: "authentication", statuses: [401]),
        ErrorTable.Row(code: "subscription_required", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "too_many_families", action: "none", statuses: [409]),
        ErrorTable.Row(code: "family_unknown", action: "none", statuses: [404]),
        ErrorTable.Row(code: "session_unknown", action: "none", statuses: [404]),
        ErrorTable.Row(code: "token_invalid", action: "authentication", statuses: [401]),
        ErrorTable.Row(code: "token_revoked", action: "authentication", statuses: [401]),
        ErrorTable.Row(code: "token_replayed", action: "authentication", statuses: [401]),
        ErrorTable.Row(code: "account_locked", action: "none", statuses: [403]),
        ErrorTable.Row(code: "environment_mismatch", action: "none", statuses: [400]),
        ErrorTable.Row(code: "rotation_in_progress", action: "retry", statuses: [409]),
    ]

    private static let signInWithApple =
        [
            "apple_token_malformed", "apple_token_algorithm", "apple_key_unknown", "apple_token_signature", "apple_token_issuer",
            "apple_token_audience", "apple_token_expired", "apple_nonce_mismatch", "apple_token_subject", "apple_token_replayed",
            "apple_grant_invalid", "ticket_invalid",
        ].map { ErrorTable.Row(code: $0, action: "authentication", statuses: [401]) } + [
            ErrorTable.Row(code: "client_unknown", action: "configuration", statuses: [400]),
            accountExists, confirmationRequired,
            ErrorTable.Row(code: "link_conflict", action: "none", statuses: [409]),
            ErrorTable.Row(code: "last_method", action: "none", statuses: [409]),
            ErrorTable.Row(code: "apple_request_invalid", action: "none", statuses: [502]),
            ErrorTable.Row(code: "apple_unavailable", action: "retry", statuses: [503]),
            ErrorTable.Row(code: "apple_notification_invalid", action: "none", statuses: [400]),
            ErrorTable.Row(code: "state_invalid", action: "authentication", statuses: [400]),
            ErrorTable.Row(code: "transfer_window_closed", action: "none", statuses: [410]),
        ]

    private static let byCode = Dictionary(uniqueKeysWithValues: rows.map { ($0.code, $0) })

    /// Where the successor API has another name (rest-v2 §6).
    private static let names: [Fault.Code: String] = [
        .accessDenied: "invalid_access_token_client_application", .invalidClient: "invalid_access_token_client_application",
        .insufficientScope: "invalid_access_token_service_provider", .invalidRequestor: "invalid_parameter_service_provider",
        .invalidDeviceID: "invalid_header_device_identifier", .invalidDeviceInformation: "invalid_header_device_info",
        .unknownIntegration: "invalid_integration", .authenticationSessionMissing: "authenticated_profile_missing",
        .authenticationSessionExpired: "authenticated_profile_expired", .authenticationSessionInvalidated: "authenticated_profile_invalidated",
        .tooManyRequests: "rate_limited", .invalidMessage: "invalid_request",
    ]
}
