internal import Catalogue
internal import Clocks
public import Contracts
internal import SamlProfile

/// Explains responses without a running service, for tools.
public struct SamlExplainer: Sendable {
    private let explainer: ResponseExplainer

    /// - Parameters:
    ///   - configuration: The catalogue.
    ///   - entityID: Our entity id, as `spEntityID` in the service's settings.
    ///   - assertionConsumerServiceURL: As `acsURL` there.
    ///   - decryptionKey: PEM; without it encrypted assertions cannot be read.
    /// - Throws: `SamlConfigurationError` when the key cannot be used.
    public init(configuration: Configuration, entityID: String, assertionConsumerServiceURL: String, decryptionKey: String?) throws {
        let keys = try decryptionKey.map { [try DecryptionKey(pem: $0)] } ?? []
        let expectations = SamlExpectations(
            entityID: entityID, assertionConsumerServiceURL: assertionConsumerServiceURL, decryptionKeys: keys)
        explainer = ResponseExplainer(catalogue: FixedCatalogue(configuration), clock: SystemClock()) {
            expectations.finding(on: $0, from: $1, now: $2)
        }
    }

    /// - Throws: `Fault`: `invalid_request` (no message, an MVPD or requestor that is not known), `unimplemented` (no SAML).
    public func explain(_ request: ExplainResponseRequest) throws -> SignInReport { try explainer.explain(request) }
}
