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
