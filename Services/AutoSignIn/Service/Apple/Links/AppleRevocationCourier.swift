internal import Catalogue
internal import Faults

/// Ends authorizations at Apple (apple §2.5), each refresh token by its own client id.
struct AppleRevocationCourier: OutboxCourier {
    let apple: AppleIDClient
    let seal: TokenSeal
    let catalogue: any CatalogueSource

    func deliver(_ item: OutboxItem) async -> DeliveryOutcome {
        guard let revocation = AppleRevocation(item.letter), let sealed = revocation.sealed,
            let token = seal.open(
                sealed, AppleGrantRecord.sealedAs,
                of: AppleGrantRecord.owner(AppleLinkID(item.letter.subject), AppleClientID(revocation.client)), as: AppleRefreshToken.self)
        else { return .refused(status: 0) }
        do throws(Fault) {
            let catalogue = try catalogue.current()
            guard let app = catalogue.app(AppleClientID(revocation.client), ofTeam: AppleTeamID(revocation.team))?.app else {
                return .refused(status: 0)
            }
            try await apple.revoke(token, app: app)
            return .accepted
        } catch {
            return Self.outcome(error)
        }
    }

    private static func outcome(_ fault: Fault) -> DeliveryOutcome {
        switch fault.code {
        // There is nothing left to end.
        case .appleGrantInvalid: .accepted
        case .appleRequestInvalid: .refused(status: 400)
        default: .unclear(status: 0, retryAfter: fault.retryAfter)
        }
    }
}
