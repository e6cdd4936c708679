internal import Contracts
internal import OutboundHttp
internal import SamlProfile

/// An MVPD's decision point as the catalogue describes it.
struct DecisionPoint: Sendable {
    let mvpd: Mvpd
    let record: AuthorizationEndpoint
    let vocabulary: XacmlVocabulary

    init(_ mvpd: Mvpd) {
        self.mvpd = mvpd
        record = mvpd.authorization ?? AuthorizationEndpoint()
        vocabulary = XacmlVocabulary(record.names ?? DecisionNames(), subjectAsToken: record.subjectAsToken)
    }

    /// Whether one message can carry several questions.
    var takesSeveral: Bool { record.protocol != .restMrss }

    /// The header that tells a proxy which of its MVPDs is meant (mvpd §4.1).
    var proxiedMvpdHeader: OutboundRequest.Header? {
        guard mvpd.isProxied, !record.proxiedMvpdHeader.isEmpty else { return nil }
        return (record.proxiedMvpdHeader, mvpd.providerID.isEmpty ? mvpd.id : mvpd.providerID)
    }
}

/// What the SOAP form takes from the sign-in, where the endpoint does not say otherwise (mvpd §4.1, §4.2).
extension DecisionPoint {
    private var saml: SamlEndpoint? {
        if case .saml(let endpoint) = mvpd.signIn { endpoint } else { nil }
    }

    /// Who has to have issued answers: the same as at login.
    var issuer: ExpectedIssuer {
        if !record.issuer.isEmpty { return .direct(entityID: record.issuer) }
        if mvpd.isProxied { return .proxied(ids: [mvpd.id, mvpd.providerID].filter { !$0.isEmpty }) }
        return .direct(entityID: saml?.idpEntityID ?? "")
    }

    var signingCertificates: [[UInt8]] { record.signingCertificates.isEmpty ? saml?.signingCertificates ?? [] : record.signingCertificates }

    func onBehalfOf(_ requestor: String) -> String {
        if let saml, !saml.partnerID.isEmpty { return saml.partnerID }
        return requestor
    }

    var scoping: SamlProfile.ScopingMode {
        switch saml?.scopingMode ?? record.scopingMode {
        case .requesterId: .requesterID
        case .both: .both
        case .none: .none
        case .issuerSuffix, .unrecognized: .issuerSuffix
        }
    }
}
