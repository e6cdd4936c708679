internal import Faults

extension Fault.Code {
    /// True for what an MVPD, a trial or a rule says of one resource.
    var refusesResource: Bool {
        switch self {
        case .authorizationDeniedByMvpd, .authorizationDeniedByParentalControls, .authorizationDeniedByHbaPolicies,
            .authorizationDeniedBySessionInvalidated, .authorizationDeniedByDegradationRule, .identityNotRecognizedByMvpd, .networkReceivedError,
            .networkConnectionTimeout, .maximumExecutionTimeExceeded, .authenticationSessionExpired, .authenticationSessionMissing,
            .temporaryAccessDurationLimitExceeded, .temporaryAccessResourcesLimitExceeded, .invalidTemporaryAccessIdentity:
            true
        default: false
        }
    }
}
