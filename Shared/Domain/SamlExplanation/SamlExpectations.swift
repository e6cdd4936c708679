package import Clocks
package import Contracts
internal import Memos
package import SamlProfile
internal import Synchronization

/// The standard for answers of MVPDs: our names and keys, and the endpoint's record.
package final class SamlExpectations: Sendable {
    private let entityID: String
    private let assertionConsumerServiceURL: String
    private let decryptionKeys: Mutex<[DecryptionKey]>
    /// Parsed certificates by their DER, so that a sign-in does not parse them again.
    private let certificates = Mutex(BoundedCache<[UInt8], PinnedCertificate>(capacity: 4096))

    package init(entityID: String, assertionConsumerServiceURL: String, decryptionKeys: [DecryptionKey]) {
        self.entityID = entityID
        self.assertionConsumerServiceURL = assertionConsumerServiceURL
        self.decryptionKeys = Mutex(decryptionKeys)
    }

    /// Opens assertions with other keys from now on.
    package func adopt(_ keys: [DecryptionKey]) { decryptionKeys.withLock { $0 = keys } }

    /// The record of a request, by whatever way it went out.
    package struct Recorded {
        package let id: SamlRequestID
        package let startedAt: Timestamp
        package let issuerSent: String

        package init(id: SamlRequestID, startedAt: Timestamp, issuerSent: String) {
            self.id = id
            self.startedAt = startedAt
            self.issuerSent = issuerSent
        }
    }

    package func expectation(_ recorded: Recorded, _ provider: SamlProvider) throws(SamlConfigurationError) -> ExpectedResponse {
        let endpoint = provider.endpoint
        var expected = ExpectedResponse(
            requestID: recorded.id.text, requestedAt: recorded.startedAt, assertionConsumerServiceURL: assertionConsumerServiceURL,
            issuer: provider.expectedIssuer, serviceProviderEntityID: entityID, issuerSent: recorded.issuerSent,
            pinnedCertificates: try pinned(endpoint),
            nameIDFormats: [endpoint.acceptedNameIDFormat])
        endpoint.configure(&expected)
        expected.decryptionKeys = decryptionKeys.withLock { $0 }
        return expected
    }

    /// The verdict on an answer to a recorded request, and how it came about.
    package func explained(_ response: UnverifiedResponse, _ recorded: Recorded, _ provider: SamlProvider, _ now: Timestamp) -> ResponseFinding {
        do throws(SamlConfigurationError) {
            return ResponseVerifier().explain(response, expecting: try expectation(recorded, provider), at: now)
        } catch {
            return .unusable(error)
        }
    }

    /// The same for a response whose request nobody knows.
    package func finding(on held: HeldResponse, from provider: SamlProvider, now: Timestamp) -> ResponseFinding {
        let onBehalf = provider.endpoint.partnerID.isEmpty ? held.requestor?.text : provider.endpoint.partnerID
        let issuer = onBehalf.map { provider.endpoint.issuer(of: entityID, onBehalfOf: $0) } ?? entityID
        let finding = finding(on: held, issuerSent: issuer, from: provider, now: now)
        guard onBehalf == nil, finding.explanation.steps[Check.audience.step - 1].outcome == .failed else { return finding }
        // Nobody said which requestor: the audience may be any of ours.
        let named = finding.explanation.facts.first { $0.name == "audience" && $0.value.hasPrefix(entityID + "/on-behalf-of/") }
        return named.map { self.finding(on: held, issuerSent: $0.value, from: provider, now: now) } ?? finding
    }

    private func finding(on held: HeldResponse, issuerSent: String, from provider: SamlProvider, now: Timestamp) -> ResponseFinding {
        let id = held.requestID ?? (try? held.message.claimedRequestID()).map { SamlRequestID($0) } ?? SamlRequestID("")
        return explained(held.message, Recorded(id: id, startedAt: Timestamp(milliseconds: 0), issuerSent: issuerSent), provider, now)
    }

    package func pinned(_ endpoint: SamlEndpoint) throws(SamlConfigurationError) -> [PinnedCertificate] {
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

extension SamlEndpoint {
    /// The issuer that a request for the requestor names.
    fileprivate func issuer(of entityID: String, onBehalfOf requestor: String) -> String {
        switch scoping {
        case .issuerSuffix, .both: "\(entityID)/on-behalf-of/\(requestor)"
        case .requesterID, .none: entityID
        }
    }
}
