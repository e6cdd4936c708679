public import Faults
public import OutboundHttp

/// The meaning of a v2 code for a v1 flow (bridge §12.1).
public enum BridgeMeaning: Hashable, Sendable {
    /// The person's sign-in is missing, expired or ended: a v1 fault of that name.
    case session(Fault.Code)
    /// A no to one resource, or a fault between the upstream and the MVPD: a v1 fault of that name.
    case decision(Fault.Code)
    /// The trial's time or its resources are over.
    case trial(Fault.Code)
    case tooManyResources
    /// The integration is off or unknown upstream: it is hidden for a while.
    case noIntegration
    /// The browser's sign-in cannot end any more.
    case signInOver
    case noTemporaryPassIdentity
    case badResource
    case badPartnerCall
    /// We sent what we must not send.
    case ourFault
    /// The upstream's own configuration is wrong.
    case theirFault
    case unavailable
    /// A code that is not in the edition of May 2026; what to do follows from its `action`.
    case unknown

    public init(_ refusal: BridgeRefusal) {
        if let fixed = Self.fixed[refusal.code] {
            self = fixed
        } else if refusal.code.hasPrefix("invalid_header_pfs_") {
            self = .badPartnerCall
        } else if refusal.code.hasPrefix("invalid_header_device_") {
            self = .ourFault
        } else if refusal.code.hasPrefix("invalid_configuration_") {
            self = .theirFault
        } else {
            self = .unknown
        }
    }

    private static let fixed: [OctetText: BridgeMeaning] = [
        "authenticated_profile_missing": .session(.authenticationSessionMissing),
        "authenticated_profile_expired": .session(.authenticationSessionExpired),
        "authenticated_profile_invalidated": .session(.authenticationSessionInvalidated),
        "authorization_denied_by_mvpd": .decision(.authorizationDeniedByMvpd),
        "authorization_denied_by_parental_controls": .decision(.authorizationDeniedByParentalControls),
        "authorization_denied_by_hba_policies": .decision(.authorizationDeniedByHbaPolicies),
        "authorization_denied_by_session_invalidated": .decision(.authorizationDeniedBySessionInvalidated),
        "authorization_denied_by_degradation_rule": .decision(.authorizationDeniedByDegradationRule),
        "identity_not_recognized_by_mvpd": .decision(.identityNotRecognizedByMvpd),
        "preauthorization_denied_by_mvpd": .decision(.preauthorizationDeniedByMvpd),
        "network_received_error": .decision(.networkReceivedError),
        "network_connection_timeout": .decision(.networkConnectionTimeout),
        "maximum_execution_time_exceeded": .decision(.maximumExecutionTimeExceeded),
        "temporary_access_duration_limit_exceeded": .trial(.authenticationSessionExpired),
        "temporary_access_resources_limit_exceeded": .trial(.authorizationDeniedByMvpd),
        "too_many_resources": .tooManyResources,
        "invalid_integration": .noIntegration,
        "invalid_parameter_mvpd": .noIntegration,
        "invalid_authentication_session": .signInOver,
        "invalid_parameter_code": .signInOver,
        "invalid_header_identity_for_temporary_access": .noTemporaryPassIdentity,
        "invalid_parameter_resources": .badResource,
        "invalid_parameter_saml_response": .badPartnerCall,
        "invalid_parameter_partner": .badPartnerCall,
        "invalid_parameter_service_provider": .ourFault,
        "invalid_parameter_redirect_url": .ourFault,
        "internal_server_error": .unavailable,
    ]
}

extension BridgeRefusal {
    /// The fault that a v1 app gets where one resource was decided about.
    /// - Returns: The fault, and whether the session must be read again before it counts any more.
    public var decisionFault: (fault: Fault, makesSessionSuspect: Bool) {
        switch BridgeMeaning(self) {
        case .session(let code): (said(code, "The viewer is not signed in at the provider any more."), true)
        case .decision(let code), .trial(let code): (said(code, "The provider does not permit it."), false)
        case .tooManyResources: (said(.tooManyResources, "Too many resources at once."), false)
        case .noIntegration: (said(.unknownIntegration, "The provider is not available for this channel."), false)
        case .noTemporaryPassIdentity: (said(.invalidTemporaryAccessIdentity, "Required 'generic_data' is not present"), false)
        case .badResource: (said(.malformedAuthzRequest, "The resource is not one that the provider understands."), false)
        case .unavailable, .signInOver: (said(.upstreamUnavailable, "The upstream service cannot answer now."), false)
        case .badPartnerCall, .ourFault, .theirFault: (said(.internal, "The upstream service refused the call."), false)
        case .unknown: unknownFault
        }
    }

    private var unknownFault: (fault: Fault, makesSessionSuspect: Bool) {
        switch action {
        case "retry": (said(.networkReceivedError, "The provider could not answer."), false)
        case "authentication": (said(.authenticationSessionInvalidated, "The viewer is not signed in at the provider any more."), true)
        default: (said(.authorizationDeniedByMvpd, "The provider does not permit it."), false)
        }
    }

    private func said(_ code: Fault.Code, _ message: String) -> Fault {
        Fault(code, message, details: details.isEmpty ? nil : details)
    }
}

extension BridgeFailure {
    /// The fault that a v1 app gets when the upstream did not answer as documented. Never 401 or 403: apps throw tokens away on those (bridge §12.2).
    /// - Parameter wait: Advice when the upstream is away.
    public func fault(wait: Duration = .seconds(5)) -> Fault {
        switch self {
        case .unreachable(.cancelled): Fault(.cancelled, "The call was cancelled.")
        case .unreachable, .unusable, .serverError, .wrongAddress:
            Fault(.upstreamUnavailable, "The upstream service cannot answer now.", retryAfter: wait, cause: self)
        case .unauthorized: Fault(.upstreamUnavailable, "The upstream service refuses this cluster.", retryAfter: .seconds(60), cause: self)
        case .throttled(let pause): Fault(.tooManyRequests, "Too many requests; try again later.", retryAfter: pause, cause: self)
        case .refused(let refusal): refusal.decisionFault.fault
        case .badRequest: Fault(.internal, "The upstream service refused the call.", cause: self)
        }
    }
}

/// An upstream call brought nothing that can be used for one of these reasons (bridge §12).
public enum BridgeFailure: Error, Hashable, Sendable {
    /// No whole answer.
    case unreachable(OutboundFailure.Kind)
    /// An answer that is not what the API documents; the text says what was wrong, for the log.
    case unusable(String)
    /// 5xx.
    case serverError(Int)
    /// 3xx, 404 or 405: the address is not that of an API v2.
    case wrongAddress(Int)
    /// 401, whatever its body says.
    case unauthorized
    /// 429.
    case throttled(retryAfter: Duration)
    /// 400 or 403 with a code.
    case refused(BridgeRefusal)
    /// Any other status without a known code.
    case badRequest(Int)

    /// True when it counts against the upstream's health. A refusal does not: the upstream answered.
    public var isOutage: Bool {
        switch self {
        case .unreachable(.cancelled): false
        case .unreachable, .unusable, .serverError, .wrongAddress: true
        case .unauthorized, .throttled, .refused, .badRequest: false
        }
    }
}

/// An enhanced error, of a whole answer or of one decision.
public struct BridgeRefusal: Error, Hashable, Sendable {
    public let status: Int
    /// At most 128 octets.
    public let code: String
    public let action: String
    /// The MVPD's or the operator's own words; cleaned, at most 512 octets; empty: none.
    public let details: String
    /// Upstream's own, for the log; empty: none.
    public let trace: String

    public init(status: Int, code: String, action: String = "none", details: String = "", trace: String = "") {
        self.status = status
        self.code = code
        self.action = action
        self.details = details
        self.trace = trace
    }
}
