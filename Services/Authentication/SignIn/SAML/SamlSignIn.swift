package import AuthenticationCore
internal import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
package import SamlExplanation
package import SamlProfile
internal import Synchronization

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
    func claimedRequest(of response: UnverifiedResponse) throws(SamlRejection) -> SamlRequestID

    /// The verdict on an answer that a platform's framework passed on (mvpd §2.3 B to F, §2.8).
    func verdict(on response: UnverifiedResponse, to request: ProfileRequestRecord, from provider: SamlProvider, now: Timestamp) -> ResponseFinding

    /// The verdict on an answer for the sign-in that waits for it (mvpd §2.3 steps 5 to 30 and 32).
    func verdict(
        on response: UnverifiedResponse, to request: SamlExpectations.Recorded, from provider: SamlProvider, now: Timestamp
    ) -> ResponseFinding

    /// The finding, for engineers, on a response whose sign-in nobody knows.
    func finding(on held: HeldResponse, from provider: SamlProvider, now: Timestamp) -> ResponseFinding

    /// The service provider's metadata document (mvpd §2.7).
    /// - Parameter requestor: Set for the entity that speaks for that requestor.
    func metadata(requestor: RequestorID?, now: Timestamp) throws(Fault) -> String
}

/// The parameters of a request.
package struct SamlRequest: Sendable {
    package let id: SamlRequestID
    package let relay: RelayHandle
    package let requestor: RequestorID
    package let provider: SamlProvider
    /// Nobody is to be asked anything.
    var isPassive = false
    package let now: Timestamp

    package init(id: SamlRequestID, relay: RelayHandle, requestor: RequestorID, provider: SamlProvider, isPassive: Bool = false, now: Timestamp) {
        (self.id, self.relay, self.requestor, self.provider) = (id, relay, requestor, provider)
        (self.isPassive, self.now) = (isPassive, now)
    }
}

/// The browser takes a request here.
package struct SamlDispatch: Sendable {
    package let url: String
    /// Empty for the Redirect binding.
    package let fields: [FormField]
    /// The issuer that the request names.
    package let issuer: String
}

/// The parameters of a platform's verification token.
package struct PlatformSamlRequest: Sendable {
    package let id: SamlRequestID
    package let requestor: RequestorID
    package let provider: SamlProvider
    /// The attributes that the platform is to ask the MVPD for.
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

/// The service provider's metadata, signed once and then handed out as it is: a signature costs a millisecond, and anybody may ask (mvpd §2.7).
package final class SignedMetadata: Sendable {
    /// One document is handed out for this long; far shorter than it is valid.
    static let renewal: Duration = .seconds(300)

    private struct Entry {
        let document: String
        let madeAt: Timestamp
    }

    private let saml: any SamlSignIn
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    /// By requestor, empty for none: as many as the catalogue has.
    private let entries = Mutex<[OctetText: Entry]>([:])

    init(saml: any SamlSignIn, catalogue: any CatalogueSource, clock: any WallClock) {
        self.saml = saml
        self.catalogue = catalogue
        self.clock = clock
    }

    /// To be called when a key has changed.
    package func forget() { entries.withLock { $0 = [:] } }

    /// - Parameter requestor: One of the catalogue; `nil` for the deployment's own.
    func document(_ requestor: RequestorID?) async throws(Fault) -> String {
        let key = OctetText(requestor?.text ?? "")
        let now = clock.now()
        // A clock that was set back makes a document anew.
        if let known = entries.withLock({ $0[key] }), now >= known.madeAt, now < known.madeAt + Self.renewal { return known.document }
        let document = try await offEventLoop { [saml] () throws(Fault) in try saml.metadata(requestor: requestor, now: now) }
        entries.withLock { $0[key] = Entry(document: document, madeAt: now) }
        return document
    }
}

extension SignedMetadata: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.getServiceProviderMetadata) { [self] request, _ in
            if !request.requestor.isEmpty { _ = try catalogue.current().requireRequestor(request.requestor) }
            let requestor = request.requestor.isEmpty ? nil : RequestorID(request.requestor)
            return ServiceProviderMetadata(document: try await document(requestor))
        }
    }
}
