package import BridgeClient
package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
package import SamlExplanation

/// A way to sign somebody in: SAML, OAuth, a platform's framework, a trial, or an upstream that does it in our place.
///
/// A sign-in asks the methods in order and takes the first that serves the attempt. The method then takes the answer, keeps its sessions true, and
/// ends them, so that nobody else asks by which method a session came.
package protocol SignInMethod: Sendable {
    /// The person and the MVPD of a sign-in.
    associatedtype Attempt: Sendable
    /// It goes on in this way.
    associatedtype Start: Sendable
    /// The provider's answer.
    associatedtype Answer: Sendable
    /// The result of the answer.
    associatedtype Outcome: Sendable

    /// True when attempts of this kind are made by this method.
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

    /// True for a session that nobody is shown now, though it has not ended: its provider has closed the integration for a while.
    func hides(_ session: SessionRecord) async throws(Fault) -> Bool

    /// True where the provider ended the device's login lately, and nobody has signed in or out there since.
    func hasEnded(_ viewer: DeviceCaller) async throws(Fault) -> Bool

    /// Takes note of sessions that have ended here, and tells the provider of those that came by this method.
    /// - Parameter end: Where the browser is to go at last, whose call it is; `nil`: there is no browser.
    /// - Returns: `nil` for a method that tells nobody.
    func end(_ sessions: [SessionRecord], leadingTo end: String?) async throws(Fault) -> EndedAtProvider?
}

extension SignInMethod {
    package func settle(_ viewer: DeviceCaller, _ call: DeviceCall?) async throws(Fault) {}
    package func settle(_ code: RegistrationRecord) async throws(Fault) {}
    package func hides(_ session: SessionRecord) async throws(Fault) -> Bool { false }
    package func hasEnded(_ viewer: DeviceCaller) async throws(Fault) -> Bool { false }
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
    /// The browser goes here: to the provider's logout page, or where it was to go.
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
    package var plays: [any PlayDecider] = []
    package var offers: [any ProviderOffers] = []
    package var resets: [any TrialResets] = []
    package var tokens: [any PlatformTokenKeeper] = []

    package init() {}
}

/// Decides about a session and knows its person, in place of the MVPD that the session names: an upstream.
package protocol Decider: Sendable {
    /// Returns the decider of a session, as other services find it.
    /// - Returns: `nil` for a session that this one does not decide about.
    func decider(of record: SessionRecord) async throws(Fault) -> BridgedSession?

    /// The decider's data about the session's person: fresh where it can be asked, otherwise the stored values.
    /// - Returns: Beside it the session as it is afterwards; `nil` for a session that this one does not decide about.
    func attributes(of record: SessionRecord) async throws(Fault) -> (attributes: [BridgedAttribute], session: SessionRecord)?

    /// Opens what was kept of the attributes of a session.
    func keptAttributes(_ sealed: [UInt8], of session: String) -> [UserAttribute]
}

/// Decides whether a person may play, in place of the MVPD that the session names: an upstream.
package protocol PlayDecider: Sendable {
    /// - Parameters:
    ///   - question: As of AskUpstream. The session that it names is not looked up.
    ///   - record: The session that it is about, as it was just found.
    /// - Returns: `nil` for a session that this one does not decide about.
    /// - Throws: As AskUpstream.
    func decide(_ question: AskUpstreamRequest, about record: SessionRecord) async throws(Fault) -> UpstreamDecisions?
}

/// Says which MVPDs a requestor offers beside those of the catalogue.
package protocol ProviderOffers: Sendable {
    /// - Parameters:
    ///   - address: The device's address, as providers may be offered by place; empty: unknown.
    ///   - waits: Where no list is at hand: whether one is asked for, or the MVPD is taken for offered.
    /// - Throws: `unknown_integration` for an MVPD that only a list could offer, and none does; `upstream_unavailable` where no list can be read.
    func requireOffered(
        _ mvpd: String, at requestor: String, in catalogue: Catalogue, to device: DeviceInformation, address: String, waits: Bool
    ) async throws(Fault)
}

/// Keeps what a device's platform said of its user with the device's registration code: who sends the browser to a provider needs it, and the browser
/// cannot bring it.
package protocol PlatformTokenKeeper: Sendable {
    /// - Returns: The call's tokens, which open for this code alone; empty where nobody needs them.
    /// - Throws: `internal`.
    func sealed(
        _ call: DeviceCall, for code: RegistrationRecordID, of requestor: RequestorID, in catalogue: Catalogue
    ) throws(Fault) -> [UInt8]
}

/// Resets trials that somebody else keeps.
package protocol TrialResets: Sendable {
    /// - Returns: The number of forgotten trials; `nil` where this one does not keep the MVPD's trials.
    /// - Throws: `invalid_request` (the owner of the trials does not let us, or knows no such trial); `upstream_unavailable`, `too_many_requests`.
    func reset(_ scope: () throws(Fault) -> TrialScope, requestor: String, mvpd: String, in catalogue: Catalogue) async throws(Fault) -> Int?
}

/// Remembers how sign-ins ended, for engineers who ask why one failed.
package protocol SignInReporting: Sendable {
    func add(_ record: SignInRecord)
}

/// Knows sign-ins that are told step by step while they go on.
package protocol SignInTraces: Sendable {
    /// - Returns: `nil`: none of that trace id is remembered.
    func report(trace: String) -> SignInReport?
}

/// A person in a browser who wants to sign in for the device that shows a registration code (rest-v1 §3.7).
package struct BrowserAttempt: Sendable {
    /// With MVPD, domain and redirect URL, as the call or the code has them.
    package let request: StartSignInRequest
    package let record: RegistrationRecord
    package let requestor: Requestor
    package let integration: Integration
    package let mvpd: Mvpd
    package let catalogue: Catalogue
    package let trace: TraceContext
    package let now: Timestamp

    package init(
        request: StartSignInRequest, record: RegistrationRecord, requestor: Requestor, integration: Integration, mvpd: Mvpd, catalogue: Catalogue,
        trace: TraceContext, now: Timestamp
    ) {
        (self.request, self.record, self.requestor, self.integration) = (request, record, requestor, integration)
        (self.mvpd, self.catalogue, self.trace, self.now) = (mvpd, catalogue, trace, now)
    }
}

/// A device that wants to be let in on trial, without anybody signing in (rest-v1 §3.21).
package struct TrialAttempt: Sendable {
    package let caller: DeviceCaller
    package let call: DeviceCall
    package let requestor: Requestor
    package let mvpd: Mvpd
    /// As it was sent; a promotional trial needs it.
    package let genericData: String

    package init(caller: DeviceCaller, call: DeviceCall, requestor: Requestor, mvpd: Mvpd, genericData: String) {
        (self.caller, self.call, self.requestor, self.mvpd) = (caller, call, requestor, mvpd)
        self.genericData = genericData
    }
}

/// An app that wants its platform's framework to sign somebody in (rest-v1 §3.13).
package struct PlatformAttempt: Sendable {
    package let client: AuthenticatedClient
    package let requestor: RequestorID
    package let integration: Integration
    /// With the values of the platform put in place.
    package let mvpd: Mvpd
    package let platform: Platform

    package init(client: AuthenticatedClient, requestor: RequestorID, integration: Integration, mvpd: Mvpd, platform: Platform) {
        (self.client, self.requestor, self.integration, self.mvpd) = (client, requestor, integration, mvpd)
        self.platform = platform
    }
}

/// An MVPD's answer that a platform's framework brings (rest-v1 §3.12).
package struct PlatformAnswer: Sendable {
    package let request: ExchangePlatformProfileRequest
    package let caller: DeviceCaller
    package let platform: Platform

    package init(request: ExchangePlatformProfileRequest, caller: DeviceCaller, platform: Platform) {
        (self.request, self.caller, self.platform) = (request, caller, platform)
    }
}
