internal import Clocks
internal import Contracts
internal import Faults
internal import SamlExplanation
internal import SamlProfile

/// The service provider's side of SAML, as far as it needs keys and XML.
protocol SamlSignIn: Sendable {
    /// The signed request, ready for the browser (mvpd §2.2).
    /// - Throws: `internal` when the key cannot sign.
    func request(_ request: SamlRequest) throws(Fault) -> SamlDispatch

    /// The signed request as a platform's framework takes it (mvpd §2.8).
    /// - Throws: `internal` when the key cannot sign.
    func platformRequest(_ request: PlatformSamlRequest) throws(Fault) -> PlatformDispatch

    /// The recorded request that an answer claims to be for; nothing of the answer is checked.
    /// - Throws: Why none can be read.
    func claimedRequest(of response: UnverifiedResponse) throws(SamlRejection) -> UpstreamRequestID

    /// What an answer means that a platform's framework passed on (mvpd §2.3 B to F, §2.8).
    func verdict(on response: UnverifiedResponse, to request: ProfileRequestRecord, from provider: SamlProvider, now: Timestamp) -> SamlFinding

    /// What an answer means for the sign-in that waits for it (mvpd §2.3 steps 5 to 30 and 32).
    func verdict(
        on response: UnverifiedResponse, to request: SamlExpectations.Recorded, from provider: SamlProvider, now: Timestamp
    ) -> SamlFinding

    /// What a response means of which nobody knows the sign-in; for engineers.
    func finding(on held: HeldResponse, from provider: SamlProvider, now: Timestamp) -> HeldFinding

    /// The service provider's metadata document (mvpd §2.7).
    /// - Parameter requestor: Set for the entity that speaks for that requestor.
    func metadata(requestor: RequestorID?, now: Timestamp) throws(Fault) -> String
}

/// What a request needs to know.
struct SamlRequest: Sendable {
    let id: UpstreamRequestID
    let relay: RelayHandle
    let requestor: RequestorID
    let provider: SamlProvider
    /// Nobody is to be asked anything.
    var isPassive = false
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

/// What a platform's verification token needs to know.
struct PlatformSamlRequest: Sendable {
    let id: UpstreamRequestID
    let requestor: RequestorID
    let provider: SamlProvider
    /// What the platform shall ask the MVPD for.
    let attributeNames: [String]
    let now: Timestamp
}

/// A verification token.
struct PlatformDispatch: Sendable {
    /// Base64 of the signed request.
    let encoded: String
    /// The issuer that the request names.
    let issuer: String
}
