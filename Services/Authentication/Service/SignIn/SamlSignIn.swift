internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import SamlProfile

/// The service provider's side of SAML, as far as it needs keys and XML.
protocol SamlSignIn: Sendable {
    /// The signed request, ready for the browser (mvpd §2.2).
    /// - Throws: `internal` when the key cannot sign.
    func request(_ request: SamlRequest) throws(Fault) -> SamlDispatch

    /// What an answer means for the sign-in that waits for it (mvpd §2.3 steps 5 to 30 and 32).
    func verdict(on response: UnverifiedResponse, to pending: PendingSignIn, from provider: SamlProvider, now: Timestamp) -> SamlVerdict

    /// The service provider's metadata document (mvpd §2.7).
    /// - Parameter requestor: Set for the entity that speaks for that requestor.
    func metadata(requestor: RequestorID?, now: Timestamp) throws(Fault) -> String
}

/// An MVPD that signs people in by SAML.
struct SamlProvider: Hashable, Sendable {
    let mvpd: Mvpd
    let endpoint: SamlEndpoint

    /// An MVPD behind a proxy that has no endpoint of its own is reached at the proxy's.
    /// - Throws: `unimplemented` for an MVPD that signs people in another way.
    init(_ mvpd: Mvpd, in catalogue: Catalogue) throws(Fault) {
        let signIn = mvpd.signIn ?? (mvpd.isProxied ? catalogue.mvpd(mvpd.proxyMvpdID)?.signIn : nil)
        guard case .saml(let endpoint) = signIn else {
            throw Fault(.unimplemented, "The MVPD does not sign people in by SAML, and no other way is offered yet.")
        }
        self.mvpd = mvpd
        self.endpoint = endpoint
    }
}

/// What a request needs to know.
struct SamlRequest: Sendable {
    let id: SamlRequestID
    let relay: RelayHandle
    let requestor: RequestorID
    let provider: SamlProvider
    let now: Timestamp
}

/// Where the browser takes a request.
struct SamlDispatch: Sendable {
    let url: String
    /// Empty for the Redirect binding.
    let fields: [FormField]
    /// The issuer that the request names.
    let issuer: String
}

/// The meaning of an answer (mvpd §2.6).
enum SamlVerdict: Sendable {
    case accepted(AcceptedSignIn)
    /// The MVPD or the person said no.
    case declined(codes: [String])
    /// Signed in nowhere, and not to be asked.
    case silent
    /// The two sides do not fit together: an alarm for the operator.
    case misconfigured(codes: [String])
    case rejected(SamlRejection)
}

/// What a verified assertion says.
struct AcceptedSignIn: Hashable, Sendable {
    let replay: SignInCompletion.Replay
    let subject: UpstreamSubject
    /// `SessionNotOnOrAfter`, if it was sent.
    let sessionEnd: Timestamp?
}
