package import ContractRuntime
package import Contracts
package import Faults

/// A way to sign somebody in: SAML, OAuth, a platform's framework, a trial, or an upstream that does it in our place.
///
/// A sign-in asks the methods in order and takes the first that serves the attempt. The method then takes the answer, keeps its sessions true, and ends them,
/// so that nobody else asks by which method a session came.
package protocol SignInMethod: Sendable {
    /// Who wants to sign in where.
    associatedtype Attempt: Sendable
    /// How it goes on.
    associatedtype Start: Sendable
    /// The provider's answer.
    associatedtype Answer: Sendable
    /// The result of the answer.
    associatedtype Outcome: Sendable

    /// Whether attempts of this kind are made by this method.
    func serves(_ attempt: Attempt) -> Bool

    /// Begins a sign-in.
    /// - Throws: The faults of the call that asks for it.
    func begin(_ attempt: Attempt) async throws(Fault) -> Start

    /// Takes the provider's answer and makes a session of it, or not.
    /// - Throws: The faults of the call that brings it.
    func finish(_ answer: Answer, trace: TraceContext) async throws(Fault) -> Outcome

    /// Takes in what the provider knows of a device by now. It is called before anybody is told who is signed in there.
    /// - Parameter call: As it came; `nil`: nothing of it may name a person to the provider.
    /// - Throws: `upstream_unavailable` as long as nobody can say whether somebody is signed in.
    func settle(_ viewer: DeviceCaller, _ call: DeviceCall?) async throws(Fault)

    /// The same for the sign-in through a registration code.
    func settle(_ code: RegistrationRecord) async throws(Fault)

    /// Takes note of sessions that have ended here, and tells the provider of those that came by this method.
    /// - Parameter end: Where the browser is to go at last, whose call it is; `nil`: there is no browser.
    /// - Returns: `nil` for a method that tells nobody.
    func end(_ sessions: [SessionRecord], leadingTo end: String?) async throws(Fault) -> EndedAtProvider?
}

extension SignInMethod {
    package func settle(_ viewer: DeviceCaller, _ call: DeviceCall?) async throws(Fault) {}
    package func settle(_ code: RegistrationRecord) async throws(Fault) {}
    package func end(_ sessions: [SessionRecord], leadingTo end: String?) async throws(Fault) -> EndedAtProvider? { nil }
}

extension SignInMethod where Answer == Never {
    /// A method that signs in at once gets no answer.
    package func finish(_ answer: Never, trace: TraceContext) async throws(Fault) -> Outcome {}
}

/// The sessions that a method has told its provider of.
package struct EndedAtProvider: Sendable {
    /// The sessions that came by the method.
    package var sessions: Set<SessionID> = []
    /// Where the browser goes: to the provider's logout page, or where it was to go.
    package var end: String

    package init(sessions: Set<SessionID> = [], end: String) { (self.sessions, self.end) = (sessions, end) }
}

/// Takes a person through a browser.
package protocol BrowserSignInMethod: SignInMethod where Attempt == BrowserAttempt, Start == SignInStart, Outcome == SignInOutcome {}

/// Takes what a platform's framework got.
package protocol PlatformSignInMethod: SignInMethod
where Attempt == PlatformAttempt, Start == ProfileRequest, Answer == PlatformAnswer, Outcome == SessionRecord {}

/// Lets a device in on trial at once.
package protocol TrialMethod: SignInMethod where Attempt == TrialAttempt, Start == SessionRecord, Answer == Never, Outcome == Never {}

/// Another cluster's part in sign-ins here; empty where there is no other cluster.
package struct Delegates: Sendable {
    /// Each list is asked before this cluster's own methods.
    package var browser: [any BrowserSignInMethod] = []
    package var platform: [any PlatformSignInMethod] = []
    package var trial: [any TrialMethod] = []
    package var deciders: [any Decider] = []
    package var offers: [any ProviderOffers] = []
    package var resets: [any TrialResets] = []

    package init() {}
}
