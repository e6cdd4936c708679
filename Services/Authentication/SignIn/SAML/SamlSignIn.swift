package import AuthenticationCore
package import Clocks
package import Contracts
package import Faults
package import SamlExplanation
package import SamlProfile

/// The service provider's side of SAML, as far as it needs keys and XML.
package protocol SamlSignIn: Sendable {
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
package struct SamlRequest: Sendable {
    package let id: UpstreamRequestID
    package let relay: RelayHandle
    package let requestor: RequestorID
    package let provider: SamlProvider
    /// Nobody is to be asked anything.
    var isPassive = false
    package let now: Timestamp

    package init(id: UpstreamRequestID, relay: RelayHandle, requestor: RequestorID, provider: SamlProvider, isPassive: Bool = false, now: Timestamp) {
        (self.id, self.relay, self.requestor, self.provider) = (id, relay, requestor, provider)
        (self.isPassive, self.now) = (isPassive, now)
    }
}

/// Where the browser takes a request.
package struct SamlDispatch: Sendable {
    package let url: String
    /// Empty for the Redirect binding.
    package let fields: [FormField]
    /// The issuer that the request names.
    package let issuer: String
}

/// What a platform's verification token needs to know.
package struct PlatformSamlRequest: Sendable {
    package let id: UpstreamRequestID
    package let requestor: RequestorID
    package let provider: SamlProvider
    /// What the platform shall ask the MVPD for.
    let attributeNames: [String]
    package let now: Timestamp
}

/// A verification token.
package struct PlatformDispatch: Sendable {
    /// Base64 of the signed request.
    package let encoded: String
    /// The issuer that the request names.
    package let issuer: String
}
