internal import Catalogue
internal import Contracts
internal import SamlExplanation

/// Requestor, integration and MVPD of a pending sign-in, as far as they still belong together.
struct SignInParties: Sendable {
    let requestor: Requestor
    let integration: Integration
    let provider: SamlProvider

    /// - Returns: `nil` when the integration was switched off, or the MVPD changed its ways, during the sign-in.
    init?(_ pending: PendingSignIn, _ catalogue: Catalogue) {
        guard let requestor = catalogue.requestor(pending.requestor.text),
            let (integration, mvpd) = try? catalogue.requireIntegration(requestor: requestor.id, mvpd: pending.mvpd.text),
            let provider = try? SamlProvider(mvpd, in: catalogue)
        else { return nil }
        self.requestor = requestor
        self.integration = integration
        self.provider = provider
    }
}
