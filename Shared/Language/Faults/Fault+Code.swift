extension Fault {
    /// A stable name for what went wrong. New ones may be added; a peer may send one that this build does not know.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, Hashable, Sendable {
            case overloaded = "overloaded"
            case unavailable = "unavailable"
            case upstreamUnavailable = "upstream_unavailable"
            case deadlineExceeded = "deadline_exceeded"
            case cancelled = "cancelled"
            case unimplemented = "unimplemented"
            case permissionDenied = "permission_denied"
            case invalidMessage = "invalid_message"
            case frameTooLarge = "frame_too_large"
            case `internal` = "internal"
            case storageFull = "storage_full"
            case invalidRequest = "invalid_request"
            case invalidRequestor = "invalid_requestor"
            case invalidDeviceInformation = "invalid_device_info"
            case invalidDeviceID = "invalid_device_id"
            case missingResource = "missing_resource"
            case malformedAuthzRequest = "malformed_authz_request"
            case unknownIntegration = "unknown_integration"
            case invalidMvpd = "invalid_mvpd"
            case temporaryAccessDurationLimitExceeded = "temporary_access_duration_limit_exceeded"
            case temporaryAccessResourcesLimitExceeded = "temporary_access_resources_limit_exceeded"
            case invalidTemporaryAccessIdentity = "invalid_temporary_access_identity"
            case invalidTemporaryAccessConfiguration = "invalid_temporary_access_configuration"
            case invalidRegistrationCode = "invalid_registration_code"
            case registrationCodeSpent = "registration_code_spent"
            case invalidDomain = "invalid_domain"
            case invalidRedirectURL = "invalid_redirect_url"
            case authenticationSessionMissing = "authentication_session_missing"
            case authenticationSessionExpired = "authentication_session_expired"
            case authenticationSessionInvalidated = "authentication_session_invalidated"
            case authenticationSessionIssuerMismatch = "authentication_session_issuer_mismatch"
            case authorizationNotFound = "authorization_not_found"
            case authorizationExpired = "authorization_expired"
            case authorizationDeniedByMvpd = "authorization_denied_by_mvpd"
            case authorizationDeniedByParentalControls = "authorization_denied_by_parental_controls"
            case authorizationDeniedByHbaPolicies = "authorization_denied_by_hba_policies"
            case authorizationDeniedBySessionInvalidated = "authorization_denied_by_session_invalidated"
            case authorizationDeniedByDegradationRule = "authorization_denied_by_degradation_rule"
            case identityNotRecognizedByMvpd = "identity_not_recognized_by_mvpd"
            case preauthorizationDeniedByMvpd = "preauthorization_denied_by_mvpd"
            case tooManyResources = "too_many_resources"
            case tooManyRequests = "too_many_requests"
            case networkReceivedError = "network_received_error"
            case networkConnectionTimeout = "network_connection_timeout"
            case maximumExecutionTimeExceeded = "maximum_execution_time_exceeded"
            case invalidParameterCode = "invalid_parameter_code"
            case invalidParameterPartner = "invalid_parameter_partner"
            case invalidParameterSamlResponse = "invalid_parameter_saml_response"
            case invalidConfigurationPlatformServices = "invalid_configuration_platform_services"
            case partnerPermissionNotPresent = "invalid_header_pfs_permission_access_not_present"
            case partnerPermissionNotDetermined = "invalid_header_pfs_permission_access_not_determined"
            case partnerPermissionNotGranted = "invalid_header_pfs_permission_access_not_granted"
            case partnerProviderNotDetermined = "invalid_header_pfs_provider_id_not_determined"
            case partnerProviderMismatch = "invalid_header_pfs_provider_id_mismatch"
            case partnerProviderExpired = "invalid_header_pfs_provider_info_expired"
            case serviceTokenInvalid = "service_token_invalid"
            case serviceTokenExpired = "service_token_expired"
            case accessDenied = "access_denied"
            case invalidClient = "invalid_client"
            case insufficientScope = "insufficient_scope"
            case unauthorizedClient = "unauthorized_client"
            case unsupportedGrantType = "unsupported_grant_type"
            case invalidRedirectURI = "invalid_redirect_uri"
            case invalidSoftwareStatement = "invalid_software_statement"
            case unapprovedSoftwareStatement = "unapproved_software_statement"
            case notFound = "not_found"
            case insufficientRole = "insufficient_role"
            case optInRequired = "opt_in_required"
            case sessionNotFresh = "session_not_fresh"
            case subscriptionRequired = "subscription_required"
            case tooManyFamilies = "too_many_families"
            case familyUnknown = "family_unknown"
            case sessionUnknown = "session_unknown"
            case tokenInvalid = "token_invalid"
            case tokenRevoked = "token_revoked"
            case tokenReplayed = "token_replayed"
            case accountLocked = "account_locked"
            case environmentMismatch = "environment_mismatch"
            case rateLimited = "rate_limited"
            case rotationInProgress = "rotation_in_progress"
            case stepUpRequired = "step_up_required"
            case idempotencyKeyReused = "idempotency_key_reused"
            case clientUnknown = "client_unknown"
            case appleTokenMalformed = "apple_token_malformed"
            case appleTokenAlgorithm = "apple_token_algorithm"
            case appleKeyUnknown = "apple_key_unknown"
            case appleTokenSignature = "apple_token_signature"
            case appleTokenIssuer = "apple_token_issuer"
            case appleTokenAudience = "apple_token_audience"
            case appleTokenExpired = "apple_token_expired"
            case appleNonceMismatch = "apple_nonce_mismatch"
            case appleTokenSubject = "apple_token_subject"
            case appleTokenReplayed = "apple_token_replayed"
            case appleGrantInvalid = "apple_grant_invalid"
            case appleRequestInvalid = "apple_request_invalid"
            case appleUnavailable = "apple_unavailable"
            case ticketInvalid = "ticket_invalid"
            case linkConflict = "link_conflict"
            case lastMethod = "last_method"
            case appleNotificationInvalid = "apple_notification_invalid"
            case stateInvalid = "state_invalid"
            case transferWindowClosed = "transfer_window_closed"
        }

        private enum Storage: Hashable, Sendable {
            case known(Known)
            case other(String)
        }

        private var storage: Storage

        private init(_ known: Known) { storage = .known(known) }

        /// The code of that name, also when this build does not know it.
        /// - Parameter rawValue: lower_snake_case.
        public init(rawValue: String) {
            storage = Known(rawValue: rawValue).map(Storage.known) ?? .other(rawValue)
        }

        /// The name that crosses the wire, lower_snake_case.
        public var rawValue: String {
            switch storage {
            case .known(let known): known.rawValue
            case .other(let name): name
            }
        }

        public var description: String { rawValue }

        /// True when the same call may succeed later without a change by the caller.
        public var isRetryable: Bool {
            switch storage {
            case .known(.overloaded),
                .known(.tooManyRequests),
                .known(.rateLimited),
                .known(.appleUnavailable),
                .known(.unavailable),
                .known(.upstreamUnavailable),
                .known(.deadlineExceeded),
                .known(.storageFull),
                .known(.networkReceivedError),
                .known(.networkConnectionTimeout),
                .known(.maximumExecutionTimeExceeded):
                true
            default: false
            }
        }
    }
}

extension Fault.Code {
    // MARK: The wire and the machine

    /// A limit of the callee is reached; nothing was begun.
    public static let overloaded = Fault.Code(.overloaded)
    /// No healthy peer, or a dependency is away; nothing is known to have been done.
    public static let unavailable = Fault.Code(.unavailable)
    /// A service outside the cluster, which a bridge stands in front of, cannot be asked now. Another copy of the callee could do no better.
    public static let upstreamUnavailable = Fault.Code(.upstreamUnavailable)
    /// The caller's time is over.
    public static let deadlineExceeded = Fault.Code(.deadlineExceeded)
    /// The caller no longer waits.
    public static let cancelled = Fault.Code(.cancelled)
    /// The peer does not know the service or the method.
    public static let unimplemented = Fault.Code(.unimplemented)
    /// The peer's certificate is not on the callee's list for the service.
    public static let permissionDenied = Fault.Code(.permissionDenied)
    /// The message does not decode, or a text in it is not UTF-8 or holds a NUL.
    public static let invalidMessage = Fault.Code(.invalidMessage)
    /// The message is larger than the receiver accepts.
    public static let frameTooLarge = Fault.Code(.frameTooLarge)
    /// Anything else; carries no text of its cause.
    public static let `internal` = Fault.Code(.internal)
    /// The disk that holds the state is full; nothing was changed.
    public static let storageFull = Fault.Code(.storageFull)
    // MARK: The v1 API (rest-v1 §2.8)

    /// A parameter is missing, repeated or malformed (rest-v1 §2.8).
    public static let invalidRequest = Fault.Code(.invalidRequest)
    /// rest-v1 §2.8.
    public static let invalidRequestor = Fault.Code(.invalidRequestor)
    /// rest-v1 §2.4; on the wire `invalid_device_info`.
    public static let invalidDeviceInformation = Fault.Code(.invalidDeviceInformation)
    /// rest-v1 §2.5.
    public static let invalidDeviceID = Fault.Code(.invalidDeviceID)
    /// rest-v1 §2.8.
    public static let missingResource = Fault.Code(.missingResource)
    /// rest-v1 §3.14.
    public static let malformedAuthzRequest = Fault.Code(.malformedAuthzRequest)
    /// rest-v1 §2.8.
    public static let unknownIntegration = Fault.Code(.unknownIntegration)
    /// No MVPD has that id (rest-v2 §2).
    public static let invalidMvpd = Fault.Code(.invalidMvpd)
    /// The time of a trial is over (rest-v2 §3).
    public static let temporaryAccessDurationLimitExceeded = Fault.Code(.temporaryAccessDurationLimitExceeded)
    /// A trial has no resource left (rest-v2 §3).
    public static let temporaryAccessResourcesLimitExceeded = Fault.Code(.temporaryAccessResourcesLimitExceeded)
    /// A promotional TempPass lacks the user's identity, or it cannot be read (rest-v2 §1.3).
    public static let invalidTemporaryAccessIdentity = Fault.Code(.invalidTemporaryAccessIdentity)
    /// The MVPD's record does not make a TempPass (rest-v2 §3).
    public static let invalidTemporaryAccessConfiguration = Fault.Code(.invalidTemporaryAccessConfiguration)
    /// rest-v1 §3.5.
    public static let invalidRegistrationCode = Fault.Code(.invalidRegistrationCode)
    /// A code that was good and tells this caller nothing any more. It is used, or was over for less than an hour and asked for by its maker. Callers
    /// are told what they are told of an unknown code; it is no guess (clients §1.14).
    public static let registrationCodeSpent = Fault.Code(.registrationCodeSpent)
    /// rest-v1 §3.7.
    public static let invalidDomain = Fault.Code(.invalidDomain)
    /// A redirect_url is of no accepted form (rest-v1 §3.7).
    public static let invalidRedirectURL = Fault.Code(.invalidRedirectURL)
    /// rest-v1 §2.8.
    public static let authenticationSessionMissing = Fault.Code(.authenticationSessionMissing)
    /// rest-v1 §2.8.
    public static let authenticationSessionExpired = Fault.Code(.authenticationSessionExpired)
    /// rest-v1 §2.8.
    public static let authenticationSessionInvalidated = Fault.Code(.authenticationSessionInvalidated)
    /// rest-v1 §2.8.
    public static let authenticationSessionIssuerMismatch = Fault.Code(.authenticationSessionIssuerMismatch)
    /// rest-v1 §2.8.
    public static let authorizationNotFound = Fault.Code(.authorizationNotFound)
    /// rest-v1 §2.8.
    public static let authorizationExpired = Fault.Code(.authorizationExpired)
    /// rest-v1 §3.14.
    public static let authorizationDeniedByMvpd = Fault.Code(.authorizationDeniedByMvpd)
    /// rest-v1 §3.14.
    public static let authorizationDeniedByParentalControls = Fault.Code(.authorizationDeniedByParentalControls)
    /// rest-v1 §2.8.
    public static let authorizationDeniedByHbaPolicies = Fault.Code(.authorizationDeniedByHbaPolicies)
    /// rest-v1 §2.8.
    public static let authorizationDeniedBySessionInvalidated = Fault.Code(.authorizationDeniedBySessionInvalidated)
    /// rest-v1 §6.1.
    public static let authorizationDeniedByDegradationRule = Fault.Code(.authorizationDeniedByDegradationRule)
    /// rest-v1 §2.8.
    public static let identityNotRecognizedByMvpd = Fault.Code(.identityNotRecognizedByMvpd)
    /// rest-v1 §3.16.
    public static let preauthorizationDeniedByMvpd = Fault.Code(.preauthorizationDeniedByMvpd)
    /// rest-v1 §3.16.
    public static let tooManyResources = Fault.Code(.tooManyResources)
    /// This caller asks too often, no matter how much room there is; to be told with a `retryAfter` (rest-v1 §2.7).
    public static let tooManyRequests = Fault.Code(.tooManyRequests)
    /// The MVPD's answer cannot be used (mvpd §4.3).
    public static let networkReceivedError = Fault.Code(.networkReceivedError)
    /// The MVPD does not answer in time (mvpd §4.3).
    public static let networkConnectionTimeout = Fault.Code(.networkConnectionTimeout)
    /// The time budget of the whole step is spent (mvpd §4.3).
    public static let maximumExecutionTimeExceeded = Fault.Code(.maximumExecutionTimeExceeded)
    // MARK: The v2 API (rest-v2 §3)

    /// The code is missing or of another form than codes have.
    public static let invalidParameterCode = Fault.Code(.invalidParameterCode)
    /// The partner is missing or unknown.
    public static let invalidParameterPartner = Fault.Code(.invalidParameterPartner)
    /// The platform's SAML response is missing or not accepted.
    public static let invalidParameterSamlResponse = Fault.Code(.invalidParameterSamlResponse)
    /// The platform signs nobody in at the MVPD for this service provider.
    public static let invalidConfigurationPlatformServices = Fault.Code(.invalidConfigurationPlatformServices)
    /// The platform's framework status has no permission (rest-v2 §1.3, also of the five that follow).
    public static let partnerPermissionNotPresent = Fault.Code(.partnerPermissionNotPresent)
    /// The person was not asked for the permission.
    public static let partnerPermissionNotDetermined = Fault.Code(.partnerPermissionNotDetermined)
    /// The person does not give the permission.
    public static let partnerPermissionNotGranted = Fault.Code(.partnerPermissionNotGranted)
    /// The platform names no provider that maps to an MVPD.
    public static let partnerProviderNotDetermined = Fault.Code(.partnerProviderNotDetermined)
    /// The platform's provider is another MVPD than the call is about.
    public static let partnerProviderMismatch = Fault.Code(.partnerProviderMismatch)
    /// The platform's login is over.
    public static let partnerProviderExpired = Fault.Code(.partnerProviderExpired)

    /// A service token is none of ours, another programmer's, or of a device that was taken out (rest-v2 §2.14).
    public static let serviceTokenInvalid = Fault.Code(.serviceTokenInvalid)
    /// rest-v2 §2.14.
    public static let serviceTokenExpired = Fault.Code(.serviceTokenExpired)

    // MARK: Client registration and access tokens (rest-v1 §2.2, §3.1, §3.2)

    /// Access token absent, malformed, expired or not ours (rest-v1 §2.2).
    public static let accessDenied = Fault.Code(.accessDenied)
    /// Unknown client, wrong secret, or revoked statement (rest-v1 §2.2, §3.2).
    public static let invalidClient = Fault.Code(.invalidClient)
    /// Scope or requestor is not covered (rest-v1 §2.2).
    public static let insufficientScope = Fault.Code(.insufficientScope)
    /// rest-v1 §3.2.
    public static let unauthorizedClient = Fault.Code(.unauthorizedClient)
    /// rest-v1 §3.2.
    public static let unsupportedGrantType = Fault.Code(.unsupportedGrantType)
    /// rest-v1 §3.1.
    public static let invalidRedirectURI = Fault.Code(.invalidRedirectURI)
    /// rest-v1 §3.1.
    public static let invalidSoftwareStatement = Fault.Code(.invalidSoftwareStatement)
    /// rest-v1 §3.1.
    public static let unapprovedSoftwareStatement = Fault.Code(.unapprovedSoftwareStatement)
    // MARK: Administration (dashboard §1)

    /// There is no such object, or it is none of the administrator's.
    public static let notFound = Fault.Code(.notFound)
    /// The administrator's role does not allow it.
    public static let insufficientRole = Fault.Code(.insufficientRole)

    // MARK: Automatic Sign-In and Sign in with Apple (apple §2, §4)

    /// apple §4.
    public static let optInRequired = Fault.Code(.optInRequired)
    /// apple §4.
    public static let sessionNotFresh = Fault.Code(.sessionNotFresh)
    /// apple §4.
    public static let subscriptionRequired = Fault.Code(.subscriptionRequired)
    /// apple §4.
    public static let tooManyFamilies = Fault.Code(.tooManyFamilies)
    /// apple §4.
    public static let familyUnknown = Fault.Code(.familyUnknown)
    /// apple §4.
    public static let sessionUnknown = Fault.Code(.sessionUnknown)
    /// apple §4: unknown or wrong, which are not told apart.
    public static let tokenInvalid = Fault.Code(.tokenInvalid)
    /// apple §4.
    public static let tokenRevoked = Fault.Code(.tokenRevoked)
    /// apple §4.
    public static let tokenReplayed = Fault.Code(.tokenReplayed)
    /// apple §4.
    public static let accountLocked = Fault.Code(.accountLocked)
    /// apple §4.
    public static let environmentMismatch = Fault.Code(.environmentMismatch)
    /// apple §1.2; comes with `retryAfter`.
    public static let rateLimited = Fault.Code(.rateLimited)
    /// apple §4.
    public static let rotationInProgress = Fault.Code(.rotationInProgress)
    /// A session for streaming asked for something of the account (apple §1.2).
    public static let stepUpRequired = Fault.Code(.stepUpRequired)
    /// The key came before with another request.
    public static let idempotencyKeyReused = Fault.Code(.idempotencyKeyReused)
    /// apple §4: no app of the programmer's at Apple.
    public static let clientUnknown = Fault.Code(.clientUnknown)
    /// apple §2.2, V1.
    public static let appleTokenMalformed = Fault.Code(.appleTokenMalformed)
    /// apple §2.2, V2.
    public static let appleTokenAlgorithm = Fault.Code(.appleTokenAlgorithm)
    /// apple §2.2, V3.
    public static let appleKeyUnknown = Fault.Code(.appleKeyUnknown)
    /// apple §2.2, V4.
    public static let appleTokenSignature = Fault.Code(.appleTokenSignature)
    /// apple §2.2, V5.
    public static let appleTokenIssuer = Fault.Code(.appleTokenIssuer)
    /// apple §2.2, V6.
    public static let appleTokenAudience = Fault.Code(.appleTokenAudience)
    /// apple §2.2, V7.
    public static let appleTokenExpired = Fault.Code(.appleTokenExpired)
    /// apple §2.2, V8.
    public static let appleNonceMismatch = Fault.Code(.appleNonceMismatch)
    /// apple §2.2, V9.
    public static let appleTokenSubject = Fault.Code(.appleTokenSubject)
    /// apple §2.2, V10.
    public static let appleTokenReplayed = Fault.Code(.appleTokenReplayed)
    /// apple §2.11: the person has to sign in anew.
    public static let appleGrantInvalid = Fault.Code(.appleGrantInvalid)
    /// apple §2.11: Apple refuses what we ask; an operator has to look.
    public static let appleRequestInvalid = Fault.Code(.appleRequestInvalid)
    /// apple §2.11: Apple gives no answer that means anything.
    public static let appleUnavailable = Fault.Code(.appleUnavailable)
    /// The ticket is spent, over, or of another device (apple §2.8).
    public static let ticketInvalid = Fault.Code(.ticketInvalid)
    /// apple §2.8, rule 6.
    public static let linkConflict = Fault.Code(.linkConflict)
    /// apple §2.8, rule 7.
    public static let lastMethod = Fault.Code(.lastMethod)
    /// apple §2.9.
    public static let appleNotificationInvalid = Fault.Code(.appleNotificationInvalid)
    /// The answer belongs to no sign-in of this browser (apple §2.1).
    public static let stateInvalid = Fault.Code(.stateInvalid)
    /// apple §2.10.
    public static let transferWindowClosed = Fault.Code(.transferWindowClosed)
}
