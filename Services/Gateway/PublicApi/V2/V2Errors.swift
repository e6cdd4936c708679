internal import Faults
internal import GatewayEdge

/// Public error codes of REST v2 with their actions and statuses (rest-v2 §3).
enum V2Errors {
    /// The row of a fault's code; a code that this API does not list becomes `internal_server_error`.
    /// - Parameter isItem: True for what concerns one of several resources: an MVPD that cannot be asked is told by its own code there.
    static func row(for code: Fault.Code, isItem: Bool = false) -> ErrorTable.Row {
        if !isItem, code.isTransient { return unavailable }
        return byCode[names[code] ?? code.rawValue] ?? internalError
    }

    /// Where clients tell a code by words of its message, these words (clients §4.7).
    static func fixedMessage(_ row: ErrorTable.Row) -> String? { fixedMessages[row.code] }

    /// What an item says beside its code.
    static func itemMessage(_ row: ErrorTable.Row) -> String {
        switch row.action {
        case "authentication": "The user has to sign in."
        case "retry": "The MVPD could not be asked; the call may be repeated."
        case "configuration": "The request is beyond what is configured."
        default: "The user may not watch the resource."
        }
    }

    static let internalError = ErrorTable.Row(code: "internal_server_error", action: "none", statuses: [500])
    /// Not of the reference: what it has no answer for.
    static let unavailable = ErrorTable.Row(code: "service_unavailable", action: "retry", statuses: [503])
    static let notFound = ErrorTable.Row(code: "not_found", action: "none", statuses: [404])
    static let requestTimeout = ErrorTable.Row(code: "request_timeout", action: "retry", statuses: [408])
    static let requestTooLarge = ErrorTable.Row(code: "request_too_large", action: "none", statuses: [413])
    static let invalidRequest = ErrorTable.Row(code: "invalid_request", action: "none", statuses: [400])

    static let rows: [ErrorTable.Row] =
        [internalError, unavailable, notFound, requestTimeout, requestTooLarge, invalidRequest]
        + rows(
            "none", 400,
            """
            invalid_parameter_service_provider invalid_parameter_mvpd invalid_parameter_code invalid_parameter_resources \
            invalid_parameter_redirect_url invalid_parameter_partner invalid_parameter_saml_response invalid_header_device_info \
            invalid_header_device_identifier invalid_header_identity_for_temporary_access invalid_header_pfs_permission_access_not_present \
            invalid_header_pfs_permission_access_not_determined invalid_header_pfs_permission_access_not_granted \
            invalid_header_pfs_provider_id_not_determined invalid_header_pfs_provider_id_mismatch invalid_header_pfs_provider_info_expired \
            invalid_integration invalid_authentication_session
            """)
        + rows(
            "none", 403,
            """
            preauthorization_denied_by_mvpd authorization_denied_by_mvpd authorization_denied_by_parental_controls \
            authorization_denied_by_degradation_rule
            """)
        + rows("configuration", 403, "too_many_resources")
        + rows(
            "configuration", 500,
            """
            invalid_configuration_user_metadata_certificate invalid_configuration_temporary_access invalid_configuration_platform \
            invalid_configuration_platform_id invalid_configuration_platform_trait invalid_configuration_platform_category_trait \
            invalid_configuration_platform_services invalid_configuration_mvpd_platform invalid_configuration_mvpd_platform_boarding_status \
            invalid_configuration_mvpd_platform_profile_exchange
            """)
        + rows("application-registration", 401, "invalid_access_token_service_provider invalid_access_token_client_application")
        + rows(
            "authentication", 403,
            """
            authenticated_profile_missing authenticated_profile_expired authenticated_profile_invalidated temporary_access_duration_limit_exceeded \
            temporary_access_resources_limit_exceeded authorization_denied_by_hba_policies authorization_denied_by_session_invalidated \
            identity_not_recognized_by_mvpd
            """)
        + rows("retry", 403, "network_received_error network_connection_timeout maximum_execution_time_exceeded")

    private static func rows(_ action: String, _ status: Int, _ codes: String) -> [ErrorTable.Row] {
        codes.split(separator: " ").map { ErrorTable.Row(code: String($0), action: action, statuses: [status]) }
    }

    private static let byCode = Dictionary(uniqueKeysWithValues: rows.map { ($0.code, $0) })

    /// Where this API has another name than the fault (rest-v2 §6).
    private static let names: [Fault.Code: String] = [
        .accessDenied: "invalid_access_token_client_application", .invalidClient: "invalid_access_token_client_application",
        .insufficientScope: "invalid_access_token_service_provider", .invalidRequestor: "invalid_parameter_service_provider",
        .invalidDeviceID: "invalid_header_device_identifier", .invalidDeviceInformation: "invalid_header_device_info",
        .unknownIntegration: "invalid_integration", .invalidMvpd: "invalid_parameter_mvpd",
        .invalidTemporaryAccessIdentity: "invalid_header_identity_for_temporary_access",
        .invalidTemporaryAccessConfiguration: "invalid_configuration_temporary_access", .invalidRedirectURL: "invalid_parameter_redirect_url",
        .invalidRegistrationCode: "invalid_authentication_session", .registrationCodeSpent: "invalid_authentication_session",
        .authenticationSessionMissing: "authenticated_profile_missing", .authenticationSessionExpired: "authenticated_profile_expired",
        .authenticationSessionInvalidated: "authenticated_profile_invalidated", .missingResource: "invalid_parameter_resources",
        .malformedAuthzRequest: "invalid_parameter_resources", .invalidMessage: "invalid_request",
    ]

    private static let fixedMessages = [
        "invalid_integration": "The integration between the service provider and the MVPD does not exist or is disabled.",
        "invalid_parameter_service_provider": "The service provider parameter value is missing or invalid.",
        "invalid_access_token_service_provider": "The access token is for an invalid service provider.",
    ]
}
