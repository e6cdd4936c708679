package import Catalogue
internal import Clocks
package import Contracts
package import Faults
package import SamlProfile

/// An MVPD that signs people in by SAML.
package struct SamlProvider: Hashable, Sendable {
    package let mvpd: Mvpd
    package let endpoint: SamlEndpoint

    /// An MVPD behind a proxy that has no endpoint of its own is reached at the proxy's.
    /// - Throws: `unimplemented` for an MVPD that signs people in another way.
    package init(_ mvpd: Mvpd, in catalogue: Catalogue) throws(Fault) {
        let signIn = mvpd.signIn ?? (mvpd.isProxied ? catalogue.mvpd(mvpd.proxyMvpdID)?.signIn : nil)
        guard case .saml(let endpoint) = signIn else {
            throw Fault(.unimplemented, "The MVPD does not sign people in by SAML.")
        }
        self.mvpd = mvpd
        self.endpoint = endpoint
    }
}

/// The catalogue's record of an endpoint in the profile's words.
extension SamlProvider {
    /// Set for an MVPD behind a proxy; `providerId` wins over `id` (mvpd §2.2).
    package var proxied: AuthnRequest.ProxiedProvider? {
        guard mvpd.isProxied else { return nil }
        return AuthnRequest.ProxiedProvider(providerID: mvpd.providerID.isEmpty ? mvpd.id : mvpd.providerID, name: mvpd.displayName)
    }

    /// mvpd §2.3 step 25.
    package var expectedIssuer: ExpectedIssuer {
        guard mvpd.isProxied else { return .direct(entityID: endpoint.idpEntityID) }
        return .proxied(ids: [mvpd.id, mvpd.providerID].filter { !$0.isEmpty })
    }
}

extension SamlEndpoint {
    private static let persistentFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"

    package var acceptedNameIDFormat: String { nameIDFormat.isEmpty ? Self.persistentFormat : nameIDFormat }

    package var scoping: SamlProfile.ScopingMode {
        switch scopingMode {
        case .requesterId: .requesterID
        case .both: .both
        case .none: .none
        case .issuerSuffix, .unrecognized: .issuerSuffix
        }
    }

    /// Carries over the endpoint's own rules. A value that this build does not know counts as the strictest.
    package func configure(_ expected: inout ExpectedResponse) {
        if clockSkewSeconds != 0 { expected.clockSkew = .seconds(Int64(clockSkewSeconds)) }
        if maxResponseAgeSeconds != 0 { expected.maximumResponseAge = .seconds(Int64(maxResponseAgeSeconds)) }
        expected.signaturePolicy = policy
        if !signatureAlgorithms.isEmpty { expected.signatureAlgorithms = Set(signatureAlgorithms.compactMap(SignatureAlgorithm.init)) }
        if legacySha1UntilMilliseconds != 0 {
            expected.legacySHA1Until = Timestamp(milliseconds: Int64(clamping: legacySha1UntilMilliseconds))
        }
        expected.forceAuthn = forceAuthn
        expected.encryption = encryption == .optional ? .optional : .required
        expected.guidAttributeName = guidAttributeName.isEmpty ? nil : guidAttributeName
        expected.attributeMap = attributeMap.map(\.profile)
    }

    /// The differences for an answer that a platform's framework passed on (mvpd §2.8).
    package func configurePlatformExchange(_ expected: inout ExpectedResponse) {
        expected.forceAuthn = false
        if answersAnyRequest { expected.answeredRequest = .any }
        expected.requiresAuthnStatement = !answersAnyRequest && !asksForAttributes
        let age = platformExchange?.maxAgeSeconds ?? 0
        if age != 0 { expected.maximumResponseAge = .seconds(Int64(age)) }
    }

    /// True when the platform may ask the MVPD with a request of its own.
    package var answersAnyRequest: Bool { platformExchange?.inResponseToMode == .device }

    /// True when the platform is given a query for attributes in place of a request to sign in.
    package var asksForAttributes: Bool { platformExchange?.requestKind == .attributeQuery }

    private var policy: SamlProfile.SignaturePolicy {
        switch signaturePolicy {
        case .assertion: .assertion
        case .response: .response
        case .both, .unrecognized: .both
        }
    }
}

extension Contracts.AttributeMapping {
    fileprivate var profile: SamlProfile.AttributeMapping {
        let valueType: SamlProfile.AttributeMapping.ValueType =
            switch type {
            case .boolean: .boolean
            case .stringList: .list
            case .string, .unrecognized: .string
            }
        return SamlProfile.AttributeMapping(source: source, sourceNameFormat: sourceNameFormat, target: target, type: valueType)
    }
}
