internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers

/// Makes the verification tokens that apps hand to a platform's framework (rest-v1 §3.13).
struct ProfileRequests: Sendable {
    let saml: any SamlSignIn
    let store: any AuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let metrics: AuthenticationMetrics

    /// - Parameter parties: As resolved for the platform.
    /// - Returns: And the attributes that the framework is to ask for.
    /// - Throws: `invalid_request` where the platform signs nobody in at the MVPD.
    func create(
        _ client: AuthenticatedClient, _ requestor: RequestorID, _ parties: (integration: Integration, mvpd: Mvpd), _ platform: Platform
    ) async throws(Fault) -> (request: ProfileRequest, attributes: [String]) {
        let (now, catalogue, integration, mvpd) = (clock.now(), client.catalogue, parties.integration, parties.mvpd)
        let settings = try PlatformSsoRules.requireOn(integration, mvpd, platform)
        let rule = catalogue.degradation(requestor: requestor.text, mvpd: mvpd.id, platform: platform, resource: nil, now: now)
        guard rule == nil else { throw Fault(.invalidRequest, "The MVPD is bypassed at the moment; nobody has to sign in there.") }
        let provider = try PlatformSsoRules.provider(mvpd, in: catalogue)
        let message = PlatformSamlRequest(
            id: .random(from: random), requestor: requestor, provider: provider, attributeNames: PlatformSsoRules.attributeNames(settings), now: now)
        let token = try await offEventLoop { [saml] () throws(Fault) in try saml.platformRequest(message) }
        let record = ProfileRequestRecord(
            requestID: message.id, clientID: client.id, requestor: message.requestor, mvpd: MvpdID(mvpd.id), platform: platform,
            issuerSent: token.issuer, createdAt: now, expiresAt: now + ProfileRequestRecord.lifetime)
        try await store.add(record)
        metrics.profileRequests.increment()
        let made = ProfileRequest(verificationToken: token.encoded, expiresAtMilliseconds: UInt64(clamping: record.expiresAt.milliseconds))
        return (made, message.attributeNames)
    }
}
