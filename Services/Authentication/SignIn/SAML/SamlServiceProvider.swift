package import AuthenticationCore
package import Clocks
internal import Contracts
package import Faults
package import Identifiers
package import SamlExplanation
package import SamlProfile
internal import Synchronization

/// The SAML profile with this deployment's names and keys.
package final class SamlServiceProvider: SamlSignIn {
    /// Our identity towards the MVPDs.
    package struct Identity: Sendable {
        let entityID: String
        let assertionConsumerServiceURL: String
        /// MVPDs send logout messages here.
        let logoutServiceURL: String
        var signingKey: SamlSigningKey
        /// DER; listed beside that of the signing key during a rollover (mvpd §2.7).
        package var otherSigningCertificate: [UInt8]?
        var decryptionKey: DecryptionKey
        /// The decryption key from before, to which MVPDs encrypt until they have read our metadata anew.
        var otherDecryptionKey: DecryptionKey?
        /// DER.
        package var encryptionCertificate: [UInt8]
        let metadataValidity: Duration

        package init(
            entityID: String, assertionConsumerServiceURL: String, logoutServiceURL: String, signingKey: SamlSigningKey,
            otherSigningCertificate: [UInt8]? = nil, decryptionKey: DecryptionKey, otherDecryptionKey: DecryptionKey? = nil,
            encryptionCertificate: [UInt8], metadataValidity: Duration
        ) {
            (self.entityID, self.assertionConsumerServiceURL, self.logoutServiceURL, self.signingKey) = (
                entityID, assertionConsumerServiceURL, logoutServiceURL, signingKey
            )
            (self.otherSigningCertificate, self.decryptionKey, self.otherDecryptionKey, self.encryptionCertificate) = (
                otherSigningCertificate, decryptionKey, otherDecryptionKey, encryptionCertificate
            )
            self.metadataValidity = metadataValidity
        }
    }

    private let current: Mutex<Identity>
    private let random: any RandomSource
    let expectations: SamlExpectations

    /// With the keys of now.
    var identity: Identity { current.withLock { $0 } }

    package init(_ identity: Identity, random: any RandomSource) {
        current = Mutex(identity)
        self.random = random
        expectations = SamlExpectations(
            entityID: identity.entityID, assertionConsumerServiceURL: identity.assertionConsumerServiceURL,
            decryptionKeys: identity.decryptionKeys)
    }

    /// Signs and decrypts with other keys from now on.
    package func adopt(_ keys: AuthenticationKeys) {
        let keysToOpen = current.withLock { identity in
            // An operator who replaces a key file without naming the former key has an overlap all the same, until the next start.
            let isOtherSigning = identity.signingKey.certificate != keys.signing.certificate
            identity.otherSigningCertificate =
                keys.otherSigningCertificate ?? (isOtherSigning ? identity.signingKey.certificate : identity.otherSigningCertificate)
            let isOtherDecryption = identity.encryptionCertificate != keys.encryptionCertificate
            identity.otherDecryptionKey = keys.otherDecryption ?? (isOtherDecryption ? identity.decryptionKey : identity.otherDecryptionKey)
            identity.signingKey = keys.signing
            identity.decryptionKey = keys.decryption
            identity.encryptionCertificate = keys.encryptionCertificate
            return identity.decryptionKeys
        }
        expectations.adopt(keysToOpen)
    }

    package func request(_ request: SamlRequest) throws(Fault) -> SamlDispatch {
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

    package func verdict(
        on response: UnverifiedResponse, to request: SamlExpectations.Recorded, from provider: SamlProvider, now: Timestamp
    ) -> ResponseFinding {
        expectations.explained(response, request, provider, now)
    }

    package func finding(on held: HeldResponse, from provider: SamlProvider, now: Timestamp) -> ResponseFinding {
        expectations.finding(on: held, from: provider, now: now)
    }

    package func metadata(requestor: RequestorID?, now: Timestamp) throws(Fault) -> String {
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
}

extension SamlServiceProvider.Identity {
    /// Those to which an assertion may be encrypted.
    var decryptionKeys: [DecryptionKey] { [decryptionKey] + (otherDecryptionKey.map { [$0] } ?? []) }
}

extension SamlServiceProvider {
    /// With the names of the settings and the keys of their files.
    package convenience init(_ settings: AuthenticationSettings, _ keys: AuthenticationKeys, random: any RandomSource) {
        self.init(
            Identity(
                entityID: settings.spEntityID, assertionConsumerServiceURL: settings.acsURL, logoutServiceURL: settings.logoutURL,
                signingKey: keys.signing, otherSigningCertificate: keys.otherSigningCertificate, decryptionKey: keys.decryption,
                otherDecryptionKey: keys.otherDecryption, encryptionCertificate: keys.encryptionCertificate,
                metadataValidity: .seconds(Int64(settings.metadataValidity))),
            random: random)
    }
}

/// The differences when a platform's framework carries the messages (mvpd §2.8).
extension SamlServiceProvider {
    package func platformRequest(_ request: PlatformSamlRequest) throws(Fault) -> PlatformDispatch {
        var message = authnRequest(request.id, request.requestor, request.provider, request.now)
        // The person is at a television and is not asked: a request that forces a login could never be answered (decision 0017).
        message.forceAuthn = false
        do {
            guard request.provider.endpoint.asksForAttributes else {
                return PlatformDispatch(encoded: try message.signedDocument(signedWith: identity.signingKey), issuer: message.issuer)
            }
            let query = AttributeQuery(
                id: message.id, issuedAt: message.issuedAt, destination: message.destination, issuer: message.issuer,
                attributeNames: request.attributeNames)
            return PlatformDispatch(encoded: try query.signedDocument(signedWith: identity.signingKey), issuer: message.issuer)
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    package func claimedRequest(of response: UnverifiedResponse) throws(SamlRejection) -> SamlRequestID {
        SamlRequestID(try response.claimedRequestID())
    }

    package func verdict(
        on response: UnverifiedResponse, to request: ProfileRequestRecord, from provider: SamlProvider, now: Timestamp
    ) -> ResponseFinding {
        do throws(SamlConfigurationError) {
            let recorded = SamlExpectations.Recorded(id: request.requestID, startedAt: request.createdAt, issuerSent: request.issuerSent)
            var expected = try expectations.expectation(recorded, provider)
            provider.endpoint.configurePlatformExchange(&expected)
            expected.exchangeURL = exchangeURL
            let finding = ResponseVerifier().explain(response, expecting: expected, at: now)
            if case .rejected(let rejection) = finding.verdict, finding.digestDiffers {
                // Apps collapse white space before they send the message; whatever it was, it is never repaired.
                let suspicion = SamlRejection(rejection.reason, "The content is not what was signed (sig.digest.whitespace?).")
                return ResponseFinding(verdict: .rejected(suspicion), explanation: finding.explanation)
            }
            return finding
        } catch {
            return .unusable(error)
        }
    }

    /// The address of the exchange, beside that of the assertion consumer.
    private var exchangeURL: String? {
        RedirectAddress(identity.assertionConsumerServiceURL).map { $0.origin + "/api/v1/tokens/authn" }
    }
}
