/// The codes of enhanced errors (rest-v2 §3).
enum UpstreamErrorCode: String, Sendable, Codable, CaseIterable {
    case invalidServiceProvider = "invalid_parameter_service_provider"
    case invalidMvpd = "invalid_parameter_mvpd"
    case invalidCode = "invalid_parameter_code"
    case invalidResources = "invalid_parameter_resources"
    case invalidRedirectURL = "invalid_parameter_redirect_url"
    case invalidPartner = "invalid_parameter_partner"
    case invalidSamlResponse = "invalid_parameter_saml_response"
    case invalidDeviceInfo = "invalid_header_device_info"
    case invalidDeviceIdentifier = "invalid_header_device_identifier"
    case invalidTempPassIdentity = "invalid_header_identity_for_temporary_access"
    case partnerPermissionNotPresent = "invalid_header_pfs_permission_access_not_present"
    case partnerPermissionNotDetermined = "invalid_header_pfs_permission_access_not_determined"
    case partnerPermissionNotGranted = "invalid_header_pfs_permission_access_not_granted"
    case partnerProviderNotDetermined = "invalid_header_pfs_provider_id_not_determined"
    case partnerProviderMismatch = "invalid_header_pfs_provider_id_mismatch"
    case partnerProviderExpired = "invalid_header_pfs_provider_info_expired"
    case invalidIntegration = "invalid_integration"
    case invalidSession = "invalid_authentication_session"
    case preauthorizationDenied = "preauthorization_denied_by_mvpd"
    case denied = "authorization_denied_by_mvpd"
    case deniedByParentalControls = "authorization_denied_by_parental_controls"
    case deniedByDegradationRule = "authorization_denied_by_degradation_rule"
    case internalServerError = "internal_server_error"
    case tooManyResources = "too_many_resources"
    case metadataCertificate = "invalid_configuration_user_metadata_certificate"
    case tempPassConfiguration = "invalid_configuration_temporary_access"
    case platform = "invalid_configuration_platform"
    case platformID = "invalid_configuration_platform_id"
    case platformTrait = "invalid_configuration_platform_trait"
    case platformCategoryTrait = "invalid_configuration_platform_category_trait"
    case platformServices = "invalid_configuration_platform_services"
    case mvpdPlatform = "invalid_configuration_mvpd_platform"
    case boardingStatus = "invalid_configuration_mvpd_platform_boarding_status"
    case profileExchange = "invalid_configuration_mvpd_platform_profile_exchange"
    case tokenOfOtherServiceProvider = "invalid_access_token_service_provider"
    case tokenInvalid = "invalid_access_token_client_application"
    case profileMissing = "authenticated_profile_missing"
    case profileExpired = "authenticated_profile_expired"
    case profileInvalidated = "authenticated_profile_invalidated"
    case tempPassOver = "temporary_access_duration_limit_exceeded"
    case tempPassUsedUp = "temporary_access_resources_limit_exceeded"
    case deniedByHomePolicies = "authorization_denied_by_hba_policies"
    case deniedBySessionInvalidated = "authorization_denied_by_session_invalidated"
    case identityNotRecognized = "identity_not_recognized_by_mvpd"
    case networkReceivedError = "network_received_error"
    case networkTimeout = "network_connection_timeout"
    case executionTimeExceeded = "maximum_execution_time_exceeded"

    /// The status that the error carries; of an item of a decision it is not that of the answer.
    var status: Int {
        switch self {
        case .tokenInvalid, .tokenOfOtherServiceProvider: 401
        case .internalServerError: 500
        default: rawValue.hasPrefix("invalid_configuration_") ? 500 : rawValue.hasPrefix("invalid_") ? 400 : 403
        }
    }

    /// What the client is told to do.
    var action: String {
        switch self {
        case .tokenInvalid, .tokenOfOtherServiceProvider: "application-registration"
        case .tooManyResources: "configuration"
        case .profileMissing, .profileExpired, .profileInvalidated, .tempPassOver, .tempPassUsedUp, .deniedByHomePolicies,
            .deniedBySessionInvalidated, .identityNotRecognized:
            "authentication"
        case .networkReceivedError, .networkTimeout, .executionTimeExceeded: "retry"
        default: rawValue.hasPrefix("invalid_configuration_") ? "configuration" : "none"
        }
    }

    /// Free text; three of them are matched by their words (clients §4.7).
    var message: String {
        switch self {
        case .invalidServiceProvider: "The service provider parameter value is missing or invalid."
        case .tokenOfOtherServiceProvider: "The access token is not valid: invalid service provider."
        case .tokenInvalid: "The access token is not valid: invalid client application."
        case .invalidIntegration: "The integration between the service provider and the MVPD does not exist or is disabled."
        case .invalidMvpd: "The MVPD parameter value is missing or invalid."
        case .invalidCode: "The code parameter value is missing or invalid."
        case .invalidResources: "The resources parameter value is missing or invalid."
        case .invalidRedirectURL: "The redirect URL parameter value is missing or invalid."
        case .invalidSession: "The authentication session is missing or invalid."
        case .tooManyResources: "The limit of resources in one request is exceeded."
        default: "The stand-in answers \(rawValue.split(separator: "_").joined(separator: " "))."
        }
    }
}
