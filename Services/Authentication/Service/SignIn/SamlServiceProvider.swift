internal import Clocks
internal import Contracts
internal import Faults
internal import SamlProfile
internal import Storage
internal import Synchronization

/// The SAML profile with this deployment's names and keys.
final class SamlServiceProvider: SamlSignIn {
    /// Who we are to the MVPDs.
    struct Identity: Sendable {
        let entityID: String
        let assertionConsumerServiceURL: String
        /// Where MVPDs send logout messages.
        let logoutServiceURL: String
        let signingKey: SigningKey
        /// DER; listed beside that of the signing key during a rollover (mvpd §2.7).
        let otherSigningCertificate: [UInt8]?
        let decryptionKey: DecryptionKey
        /// DER.
        let encryptionCertificate: [UInt8]
        let metadataValidity: Duration
    }

    let identity: Identity
    private let random: any RandomSource
    /// Parsed certificates by their DER, so that a sign-in does not parse them again.
    private let certificates = Mutex(BoundedCache<[UInt8], PinnedCertificate>(capacity: 4096))

    init(_ identity: Identity, random: any RandomSource) {
        self.identity = identity
        self.random = random
    }

    func request(_ request: SamlRequest) throws(Fault) -> SamlDispatch {
        var message = authnRequest(request.id, request.requestor, request.provider, request.now)
        message.isPassive = request.isPassive
        // A login that is forced and must not be seen could never succeed (SAML core §3.4.1).
        if request.isPassive { message.forceAuthn = false }
        let relay = RelayState(rawValue: request.relay.text)
        do {
            guard request.provider.endpoint.requestBinding == .post else {
                let url = try message.redirectURL(signedWith: identity.signingKey, relayState: relay)
                return SamlDispatch(url: url, fields: [], issuer: message.issuer)
            }
            let form = try message.postForm(signedWith: identity.signingKey, relayState: relay)
            return SamlDispatch(
                url: form.action, fields: form.fields.map { FormField(name: $0.name, value: $0.value) }, issuer: message.issuer)
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    func verdict(on response: UnverifiedResponse, to pending: PendingSignIn, from provider: SamlProvider, now: Timestamp) -> SamlVerdict {
        do throws(SamlConfigurationError) {
            let recorded = Recorded(id: pending.requestID, startedAt: pending.startedAt, issuerSent: pending.issuerSent)
            return SamlVerdict(ResponseVerifier().verify(response, expecting: try expectation(recorded, provider), at: now).verdict)
        } catch {
            return .rejected(SamlRejection(.unusable, error.description))
        }
    }

    func metadata(requestor: RequestorID?, now: Timestamp) throws(Fault) -> String {
        let metadata = ServiceProviderMetadata(
            serviceProviderEntityID: identity.entityID, assertionConsumerServiceURL: identity.assertionConsumerServiceURL,
            signingCertificates: [identity.signingKey.certificate] + (identity.otherSigningCertificate.map { [$0] } ?? []),
            encryptionCertificate: identity.encryptionCertificate, singleLogoutServiceURL: identity.logoutServiceURL,
            validUntil: now + identity.metadataValidity)
        do {
            let id = RequestID(rawValue: SamlRequestID.random(from: random).text)
            return try metadata.document(requestor: requestor?.text, id: id, signedWith: identity.signingKey)
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    func authnRequest(_ id: SamlRequestID, _ requestor: RequestorID, _ provider: SamlProvider, _ now: Timestamp) -> AuthnRequest {
        let endpoint = provider.endpoint
        var message = AuthnRequest(
            id: RequestID(rawValue: id.text), issuedAt: now, destination: endpoint.ssoURL,
            assertionConsumerServiceURL: identity.assertionConsumerServiceURL, serviceProviderEntityID: identity.entityID,
            onBehalfOf: endpoint.partnerID.isEmpty ? requestor.text : endpoint.partnerID)
        message.scopingMode = endpoint.scoping
        message.forceAuthn = endpoint.forceAuthn
        message.nameIDFormat = endpoint.nameIDFormat
        message.spNameQualifier = endpoint.spNameQualifier
        message.allowCreate = !endpoint.disallowCreate
        message.proxiedProvider = provider.proxied
        return message
    }

    /// What a request left behind, by whatever way it went out.
    struct Recorded {
        let id: SamlRequestID
        let startedAt: Timestamp
        let issuerSent: String
    }

    func expectation(_ recorded: Recorded, _ provider: SamlProvider) throws(SamlConfigurationError) -> ExpectedResponse {
        let endpoint = provider.endpoint
        var expected = ExpectedResponse(
            requestID: recorded.id.text, requestedAt: recorded.startedAt,
            assertionConsumerServiceURL: identity.assertionConsumerServiceURL, issuer: provider.expectedIssuer,
            serviceProviderEntityID: identity.entityID, issuerSent: recorded.issuerSent, pinnedCertificates: try pinned(endpoint),
            nameIDFormats: [endpoint.acceptedNameIDFormat])
        endpoint.configure(&expected)
        expected.decryptionKeys = [identity.decryptionKey]
        return expected
    }

    func pinned(_ endpoint: SamlEndpoint) throws(SamlConfigurationError) -> [PinnedCertificate] {
        var pinned: [PinnedCertificate] = []
        for der in endpoint.signingCertificates { pinned.append(try certificate(der)) }
        return pinned
    }

    private func certificate(_ der: [UInt8]) throws(SamlConfigurationError) -> PinnedCertificate {
        if let known = certificates.withLock({ $0[der] }) { return known }
        let parsed = try PinnedCertificate(der: der)
        certificates.withLock { $0[der] = parsed }
        return parsed
    }
}
