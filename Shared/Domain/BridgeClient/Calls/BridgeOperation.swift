/// The calls of the bridge to the upstream (bridge §5.2).
public enum BridgeOperation: String, CaseIterable, Sendable {
    case register
    case token
    case list
    case create
    /// Only to check what upstream understood; no app's call needs it.
    case readSession
    case byCode
    case profile
    case profiles
    case authorize
    case preauthorize
    case logout
    case partnerRequest
    case partnerProfile
    case reset

    /// Calls that fail and rest together.
    public enum Group: String, CaseIterable, Sendable {
        case registration
        case list
        case session
        case decision
        case logout
        case management
    }

    /// Which setting bounds the call's time.
    public enum TimeLimit: Sendable {
        case list
        case session
        case decision
    }

    public var group: Group {
        switch self {
        case .register, .token: .registration
        case .list: .list
        case .create, .readSession, .byCode, .profile, .profiles, .partnerRequest, .partnerProfile: .session
        case .authorize, .preauthorize: .decision
        case .logout: .logout
        case .reset: .management
        }
    }

    public var timeLimit: TimeLimit {
        switch self {
        case .list: .list
        case .authorize, .preauthorize: .decision
        default: .session
        }
    }

    /// True when the same call may be sent once more. An upstream that got it twice must not be able to do something twice that counts.
    /// - Parameter failure: How the first attempt ended.
    public func mayRepeat(after failure: BridgeFailure) -> Bool {
        switch (self, failure) {
        case (.partnerRequest, _), (.partnerProfile, _): false
        case (_, .unreachable(.notSent)), (_, .unreachable(.connectTimeout)), (_, .unreachable(.resetBeforeAnswer)): true
        case (.token, .serverError), (.readSession, .serverError), (.byCode, .serverError), (.profile, .serverError), (.profiles, .serverError): true
        default: false
        }
    }

    /// True when the call says which device it is for. The list varies by platform, never by device.
    var namesDevice: Bool { self != .list && self != .token && self != .reset }
    /// True when a platform's own identity token goes along. A logout that carried it would end every app of the person.
    var takesPlatformTokens: Bool { [.create, .profile, .profiles, .authorize, .preauthorize].contains(self) }
    var takesTemporaryPassIdentity: Bool { [.profile, .byCode, .authorize].contains(self) }
    var takesPartnerStatus: Bool { [.profile, .profiles, .authorize, .preauthorize, .partnerRequest, .partnerProfile].contains(self) }
    var takesVisitor: Bool { group != .registration }
}
