/// Doubles answer in this way.
public struct DoubleBehaviour: Hashable, Sendable {
    /// The people who are signed in.
    public enum SignedIn: String, CaseIterable, Hashable, Sendable {
        /// Every device that has not signed out, without a sign-in.
        case everyDevice = "every-device"
        /// Only devices for which a sign-in was played.
        case afterSignIn = "after-sign-in"
    }

    /// Waited before each answer with one message.
    public var latency: Duration = .zero
    /// Share of calls, 0 to 1, that fail with `unavailable`; spread evenly, so that a run can be repeated.
    public var errors = 0.0
    public var signedIn = SignedIn.everyDevice
    /// People sign in here; `nil`: the requestor's first MVPD with a login.
    public var mvpd: String?
    /// Id of the person at the MVPD; `nil`: each device has a person of its own.
    public var user: String?
    /// Resources that are denied to every user.
    public var denied: Set<String> = []
    /// Base URL of the gateway, to which a browser comes back at once: there is no MVPD to go to.
    public var publicOrigin = "http://127.0.0.1:8080"

    public init() {}
}
