internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers

/// Makes the verification tokens that apps hand to a platform's framework (rest-v1 §3.13).
struct ProfileRequests: Sendable {
    let bearers: BearerCheck
    let saml: any SamlSignIn
    let store: any AuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let metrics: AuthenticationMetrics
    /// `nil`: no upstream is used.
    let bridge: BridgedPartners?

    /// - Throws: As `BearerCheck.client`; `invalid_request` (device type, sign-in by the platform off, not `SUPPORTED`, the MVPD is bypassed
    ///   by a rule), `unknown_integration`.
    func create(_ request: CreateProfileRequestRequest) async throws(Fault) -> ProfileRequest {
        let client = try await bearers.client(request.accessToken, requestor: request.requestor)
        guard !client.isShared else { throw Fault(.insufficientScope, "The call needs a client of the device's own.") }
        _ = try client.catalogue.requireRequestor(request.requestor)
        let platform = try PlatformSsoRules.platform(deviceType: request.deviceType)
        let catalogue = client.catalogue
        let parties = try catalogue.requireIntegration(requestor: request.requestor, mvpd: request.mvpd, platform: platform)
        if let way = catalogue.bridgeWay(requestor: request.requestor, mvpd: request.mvpd), let bridge {
            let settings = try PlatformSsoRules.requireOn(parties.integration, parties.mvpd, platform)
            return try await bridge.request(client, try catalogue.requireRequestor(request.requestor), way, settings)
        }
        return try await create(client, RequestorID(request.requestor), parties, platform).request
    }

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
