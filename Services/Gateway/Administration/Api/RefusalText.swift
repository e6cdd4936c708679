internal import Contracts
internal import Faults

/// A no in the words of somebody on the phone.
enum RefusalText {
    static func source(_ source: DecisionSource) -> String {
        switch source {
        case .mvpd: "mvpd"
        case .degradation: "degradation"
        case .tempPass: "tempPass"
        case .dummy: "nobody"
        case .unrecognized: "other"
        }
    }

    static func sentence(_ refusal: SessionRefusal) -> String {
        switch Fault.Code(rawValue: refusal.code) {
        case .authorizationDeniedByMvpd: "The MVPD said no, mostly because the subscription does not include the channel."
        case .authorizationDeniedByParentalControls: "The viewer's parental controls at the MVPD forbid it."
        case .authorizationDeniedByHbaPolicies: "The MVPD lets it be watched at the viewer's home only, or nowhere but there."
        case .authorizationDeniedBySessionInvalidated: "The MVPD has ended the viewer's session; the viewer has to sign in again."
        case .authorizationDeniedByDegradationRule: "A degradation rule of this cluster forbids it for now."
        case .identityNotRecognizedByMvpd: "The MVPD does not know the viewer any more; the viewer has to sign in again."
        case .networkReceivedError: "The MVPD answered with an error."
        case .networkConnectionTimeout: "The MVPD could not be reached in time."
        case .maximumExecutionTimeExceeded: "The MVPD took too long."
        case .authenticationSessionExpired, .authenticationSessionMissing: "A degradation rule or a trial had let the viewer in, and is over."
        case .temporaryAccessDurationLimitExceeded: "The viewer's TempPass is over."
        case .temporaryAccessResourcesLimitExceeded: "The viewer has used up what the TempPass includes."
        case .invalidTemporaryAccessIdentity: "The app did not say whose promotional TempPass it is."
        default: "It was refused."
        }
    }
}
