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

    /// True for a no of the MVPD's, not for trouble on the way to it nor for a person who is not signed in.
    var isDenial: Bool {
        switch self {
        case .authorizationDeniedByMvpd, .authorizationDeniedByParentalControls, .authorizationDeniedByHbaPolicies,
            .authorizationDeniedByDegradationRule, .identityNotRecognizedByMvpd:
            true
        default: false
        }
    }
}
