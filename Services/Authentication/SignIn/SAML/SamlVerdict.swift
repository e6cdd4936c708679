package import AuthenticationCore
internal import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
package import SamlExplanation
package import SamlProfile
internal import Synchronization

/// The meaning of an answer (mvpd §2.6).
package enum SamlVerdict: Sendable {
    case accepted(AcceptedSignIn)
    /// The MVPD or the person said no.
    case declined(codes: [String])
    /// Signed in nowhere, and not to be asked.
    case silent
    /// The two sides do not fit together: an alarm for the operator.
    case misconfigured(codes: [String])
    case rejected(SamlRejection)
}

/// A verdict and how it came about.
package struct SamlFinding: Sendable {
    package let verdict: SamlVerdict
    package let explanation: ResponseExplanation
}

extension SamlFinding {
    init(_ finding: ResponseFinding) { self.init(verdict: SamlVerdict(finding.verdict), explanation: finding.explanation) }
}

extension SamlVerdict {
    init(_ verdict: ResponseVerdict) {
        switch verdict {
        case .accepted(let assertion): self = .accepted(AcceptedSignIn(assertion))
        case .rejected(let rejection): self = .rejected(rejection)
        case .status(let status):
            switch status.consequence {
            case .declined: self = .declined(codes: status.codes)
            case .notAuthenticated: self = .silent
            case .misconfigured: self = .misconfigured(codes: status.codes)
            }
        }
    }
}

/// The content of a verified assertion.
package struct AcceptedSignIn: Hashable, Sendable {
    package let replay: SignInCompletion.Replay
    package let subject: ProviderSubject
    /// `SessionNotOnOrAfter`, if it was sent.
    let sessionEnd: Timestamp?
    /// The names of the attributes that have a value, as the MVPD calls them.
    var attributeNames: Set<String> = []
}

extension AcceptedSignIn {
    /// The metadata key by which an MVPD tells that it recognised the home network (mvpd §2.5).
    private static let homeBasedKey = "hba_status"

    init(_ assertion: VerifiedAssertion) {
        let nameID = assertion.nameID
        // Without a NameID the value is empty: the session is then not ended at the MVPD.
        let name = SubjectName(
            value: nameID?.value.rawValue ?? "", format: nameID?.format ?? "", nameQualifier: nameID?.nameQualifier ?? "",
            serviceProviderQualifier: nameID?.spNameQualifier ?? "", serviceProvidedID: nameID?.spProvidedID ?? "",
            sessionIndex: assertion.sessionIndex ?? "")
        let isHomeBased = assertion.attributes.contains { $0.key == Self.homeBasedKey && $0.value == .boolean(true) }
        replay = SignInCompletion.Replay(
            issuer: assertion.replayKey.issuer, assertionID: assertion.replayKey.assertionID, expiresAt: assertion.replayKey.expiresAt)
        subject = ProviderSubject(
            userID: assertion.userID.rawValue, name: name, isHomeBased: isHomeBased, attributes: assertion.attributes.flatMap(\.contract))
        sessionEnd = assertion.sessionNotOnOrAfter
        attributeNames = assertion.attributeNames
    }
}

extension MappedAttribute {
    /// Booleans become `true` and `false`; the parts of an object become keys of their own, such as `maxRating.VCHIP`.
    fileprivate var contract: [UserAttribute] {
        switch value {
        case .string(let text): [UserAttribute(key: key, values: [text])]
        case .boolean(let isTrue): [UserAttribute(key: key, values: [isTrue ? "true" : "false"])]
        case .list(let texts): [UserAttribute(key: key, values: texts)]
        case .object(let parts):
            parts.sorted { $0.key < $1.key }.map { UserAttribute(key: "\(key).\($0.key)", values: [$0.value]) }
        }
    }
}

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
    func verdict(on response: UnverifiedResponse, to request: ProfileRequestRecord, from provider: SamlProvider, now: Timestamp) -> SamlFinding

    /// The verdict on an answer for the sign-in that waits for it (mvpd §2.3 steps 5 to 30 and 32).
    func verdict(
        on response: UnverifiedResponse, to request: SamlExpectations.Recorded, from provider: SamlProvider, now: Timestamp
    ) -> SamlFinding

    /// The finding, for engineers, on a response whose sign-in nobody knows.
    func finding(on held: HeldResponse, from provider: SamlProvider, now: Timestamp) -> HeldFinding

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

/// Where the browser takes a request.
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
    /// How long one document is handed out; far shorter than it is valid.
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
