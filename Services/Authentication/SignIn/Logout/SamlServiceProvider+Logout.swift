package import AuthenticationCore
package import Clocks
internal import Contracts
package import Faults
package import SamlExplanation
package import SamlProfile

extension SamlServiceProvider: SamlLogout {
    package func logoutRequest(_ visit: LogoutVisit) throws(Fault) -> SamlDispatch {
        let endpoint = visit.provider.endpoint
        // The issuer that asked for the sign-in asks for its end.
        let issuer = authnRequest(visit.requestID, visit.requestor, visit.provider, visit.now).issuer
        let message = SamlLogoutRequest(
            id: RequestID(rawValue: visit.requestID.text), issuedAt: visit.now, destination: endpoint.logoutURL, issuer: issuer,
            nameID: NameID(visit.name), sessionIndex: visit.name.sessionIndex.isEmpty ? nil : visit.name.sessionIndex)
        let relay = RelayState(rawValue: visit.relay.text)
        return try dispatch(issuer: issuer) { () throws(SamlConfigurationError) in
            guard endpoint.logoutBinding == .post else {
                return .address(try message.redirectURL(signedWith: identity.signingKey, relayState: relay))
            }
            return .form(try message.postForm(signedWith: identity.signingKey, relayState: relay))
        }
    }

    package func logoutResponse(_ reply: LogoutReply) throws(Fault) -> SamlDispatch {
        let endpoint = reply.provider.endpoint
        let destination = endpoint.logoutResponseURL.isEmpty ? endpoint.logoutURL : endpoint.logoutResponseURL
        let issuer = reply.requestor.map { authnRequest(reply.id, $0, reply.provider, reply.now).issuer } ?? identity.entityID
        let message = SamlLogoutResponse(
            id: RequestID(rawValue: reply.id.text), issuedAt: reply.now, destination: destination, issuer: issuer,
            inResponseTo: reply.inResponseTo)
        let relay = reply.relayState.map(RelayState.init(rawValue:))
        return try dispatch(issuer: issuer) { () throws(SamlConfigurationError) in
            guard endpoint.logoutBinding == .post else {
                return .address(try message.redirectURL(signedWith: identity.signingKey, relayState: relay))
            }
            return .form(try message.postForm(signedWith: identity.signingKey, relayState: relay))
        }
    }

    package func answer(_ message: UnverifiedLogout, to visit: LogoutVisit) throws(SamlRejection) -> LogoutAnswer {
        let expected = try expectation(of: visit.provider)
        return try LogoutVerifier().answer(message, to: visit.requestID.text, expecting: expected, at: visit.now)
    }

    package func request(_ message: UnverifiedLogout, from provider: SamlProvider, now: Timestamp) throws(SamlRejection) -> VerifiedLogoutRequest {
        try LogoutVerifier().request(message, expecting: try expectation(of: provider), at: now)
    }

    private func expectation(of provider: SamlProvider) throws(SamlRejection) -> ExpectedLogout {
        do throws(SamlConfigurationError) {
            var expected = ExpectedLogout(
                logoutServiceURL: identity.logoutServiceURL, issuer: provider.expectedIssuer,
                pinnedCertificates: try expectations.pinned(provider.endpoint))
            provider.endpoint.configure(&expected)
            return expected
        } catch {
            throw SamlRejection(.unusable, error.description)
        }
    }

    private enum Delivery {
        case address(String)
        case form(PostForm)
    }

    private func dispatch(issuer: String, _ deliver: () throws(SamlConfigurationError) -> Delivery) throws(Fault) -> SamlDispatch {
        do throws(SamlConfigurationError) {
            switch try deliver() {
            case .address(let url): return SamlDispatch(url: url, fields: [], issuer: issuer)
            case .form(let form):
                return SamlDispatch(
                    url: form.action, fields: form.fields.map { FormField(name: $0.name, value: $0.value) }, issuer: issuer)
            }
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }
}

extension NameID {
    /// As it was stored: what is empty was not sent.
    fileprivate init(_ name: SubjectName) {
        func present(_ text: String) -> String? { text.isEmpty ? nil : text }
        self.init(
            value: ProviderUserID(name.value), format: present(name.format), nameQualifier: present(name.nameQualifier),
            spNameQualifier: present(name.serviceProviderQualifier), spProvidedID: present(name.serviceProvidedID))
    }
}

extension SubjectName {
    package init(_ name: NameID) {
        self.init(
            value: name.value.rawValue, format: name.format ?? "", nameQualifier: name.nameQualifier ?? "",
            serviceProviderQualifier: name.spNameQualifier ?? "", serviceProvidedID: name.spProvidedID ?? "")
    }
}

extension SamlEndpoint {
    /// Carries over the endpoint's own rules.
    fileprivate func configure(_ expected: inout ExpectedLogout) {
        if clockSkewSeconds != 0 { expected.clockSkew = .seconds(Int64(clockSkewSeconds)) }
        if maxResponseAgeSeconds != 0 { expected.maximumAge = .seconds(Int64(maxResponseAgeSeconds)) }
        if !signatureAlgorithms.isEmpty { expected.signatureAlgorithms = Set(signatureAlgorithms.compactMap(SignatureAlgorithm.init)) }
        if legacySha1UntilMilliseconds != 0 {
            expected.legacySHA1Until = Timestamp(milliseconds: Int64(clamping: legacySha1UntilMilliseconds))
        }
    }
}

/// The service provider's side of single logout, as far as it needs keys and XML.
package protocol SamlLogout: Sendable {
    /// The signed request, ready for the browser (mvpd §2.7).
    /// - Throws: `internal` when the key cannot sign.
    func logoutRequest(_ visit: LogoutVisit) throws(Fault) -> SamlDispatch

    /// The MVPD's answer to the visit's request.
    func answer(_ message: UnverifiedLogout, to visit: LogoutVisit) throws(SamlRejection) -> LogoutAnswer

    /// The request of an MVPD.
    func request(_ message: UnverifiedLogout, from provider: SamlProvider, now: Timestamp) throws(SamlRejection) -> VerifiedLogoutRequest

    /// The signed answer to an MVPD's request, ready for the browser.
    /// - Throws: `internal` when the key cannot sign.
    func logoutResponse(_ reply: LogoutReply) throws(Fault) -> SamlDispatch
}

/// A visit of a browser at an MVPD.
package struct LogoutVisit: Sendable {
    let requestID: SamlRequestID
    package let relay: RelayHandle
    package let requestor: RequestorID
    package let provider: SamlProvider
    package let name: SubjectName
    package let now: Timestamp
}

/// An answer to an MVPD's request.
package struct LogoutReply: Sendable {
    package let id: SamlRequestID
    package let provider: SamlProvider
    /// For whom the person was signed in; `nil`: nobody was.
    package let requestor: RequestorID?
    /// `ID` of the request.
    let inResponseTo: String
    /// As it was sent; `nil`: it was not.
    package let relayState: String?
    package let now: Timestamp
}
