internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers
internal import SamlExplanation

/// Sends a person to the login of their MVPD, or straight back when the MVPD is bypassed (rest-v1 §3.7, §6.1).
struct SignInStarter: Sendable {
    /// A person has this long to sign in, or until the registration code expires (mvpd §2.2).
    static let longestPending: Duration = .seconds(15 * 60)

    let saml: any SamlSignIn
    let oauth: OAuthSignInStarter
    let catalogue: any CatalogueSource
    let store: any AuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let ends: SignInEnds
    let degraded: DegradedSessions
    let previews: FreePreviews
    let bearers: BearerCheck
    let metrics: AuthenticationMetrics
    /// `nil`: no upstream is used.
    let bridge: BridgedSignIns?

    /// - Throws: `invalid_requestor`, `invalid_request` (a parameter is missing), `invalid_registration_code`, `unknown_integration`,
    ///   `invalid_domain`, `invalid_redirect_url`, `unimplemented` (neither SAML nor OAuth).
    func start(_ request: StartSignInRequest) async throws(Fault) -> SignInStart {
        let catalogue = try catalogue.current()
        let requestor = try catalogue.requireRequestor(request.requestor)
        if request.api != .v2 { try Self.requirePresent(request) }
        let now = clock.now()
        let record = try await usableRecord(request, now)
        let request = request.api == .v2 ? try Self.planned(request, record) : request
        let platform = record.device.platform
        let (integration, mvpd) = try catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd, platform: platform)
        try await requireAddresses(request, requestor, record, catalogue)
        if let rule = catalogue.degradation(requestor: requestor.id, mvpd: mvpd.id, platform: platform, resource: nil, now: now) {
            let session = try await degraded.start(record, integration: integration, mvpd: mvpd, rule: rule)
            guard session != nil else { throw RegistrationCodes.spentCode }
            return SignInStart(url: request.redirectURL)
        }
        if let way = catalogue.bridgeWay(requestor: requestor.id, mvpd: mvpd.id) {
            guard let bridge else { throw Fault(.unimplemented, "No upstream is used here.") }
            BridgeJourney.current?.begin(record, way)
            return try await bridge.start(request, record, way)
        }
        if case .tempPass = mvpd.signIn {
            let session = try await previews.start(record, mvpd: mvpd, genericData: request.genericData)
            guard session != nil else { throw RegistrationCodes.spentCode }
            return SignInStart(url: request.redirectURL)
        }
        // An MVPD that cannot answer without showing a page counts as not signed in (mvpd §2.6).
        if request.isPassive, !mvpd.passiveAuthnEnabled { return SignInStart(url: request.redirectURL) }
        let isHandedOver = await isHandedOver(request, record, requestor)
        if let provider = OAuthProvider(mvpd, integration, in: catalogue) {
            let attempt: OAuthAttempt = request.isPassive ? .passive : provider.endpoint.attemptHba ? .homeBased : .interactive
            guard let start = try await oauth.begin(provider, record, attempt, end: request.redirectURL, isHandedOver: isHandedOver, now: now)
            else {
                throw RegistrationCodes.spentCode
            }
            return start
        }
        let provider = try SamlProvider(mvpd, in: catalogue)
        return try await begin(provider, record, request, isHandedOver: isHandedOver, now)
    }

    /// Whether the code's maker itself begins the sign-in, to give it to another agent (clients §4.2). A client that many installations share is no maker
    /// here, and where a person has to confirm nothing is handed over.
    private func isHandedOver(_ request: StartSignInRequest, _ record: RegistrationRecord, _ requestor: Requestor) async -> Bool {
        guard !request.accessToken.isEmpty, !requestor.confirmsSignIn else { return false }
        let credentials = Credentials(accessToken: request.accessToken, api: request.api)
        guard let client = try? await bearers.client(credentials, requestor: requestor.id) else { return false }
        return record.isMadeBy(client.id) && !client.isShared
    }

    /// With what was gathered for the code.
    /// - Throws: `invalid_request` when something is missing.
    private static func planned(_ request: StartSignInRequest, _ record: RegistrationRecord) throws(Fault) -> StartSignInRequest {
        guard record.lacks.isEmpty else { throw Fault(.invalidRequest, "The sign-in lacks its MVPD, its domain or its redirect URL.") }
        var request = request
        (request.mvpd, request.domainName, request.redirectURL) = (record.mvpd, record.domainName, record.redirectURL)
        return request
    }

    private static func requirePresent(_ request: StartSignInRequest) throws(Fault) {
        let parameters = [
            ("mso_id", request.mvpd), ("reg_code", request.registrationCode), ("domain_name", request.domainName),
            ("redirect_url", request.redirectURL),
        ]
        for (name, value) in parameters where value.isEmpty { throw Fault(.invalidRequest, "Required '\(name)' is not present") }
    }

    private func usableRecord(_ request: StartSignInRequest, _ now: Timestamp) async throws(Fault) -> RegistrationRecord {
        let record = try await store.liveRecord(RegistrationCodeText(typed: request.registrationCode), now: now)
        guard let record, record.requestor.text == request.requestor else { throw RegistrationCodes.unknownCode }
        guard record.deviceID != RegistrationCodes.placeholderDevice else { throw RegistrationCodes.spentCode }
        guard !record.isUsed else { throw RegistrationCodes.spentCode }
        return record
    }

    private func requireAddresses(
        _ request: StartSignInRequest, _ requestor: Requestor, _ record: RegistrationRecord, _ catalogue: Catalogue
    ) async throws(Fault) {
        if request.api != .v2 { try requestor.requireDomain(request.domainName) }
        let application = try await ClientDirectory(store: store).application(of: record.clientID, in: catalogue)
        try ends.require(request.redirectURL, at: requestor, of: application, in: catalogue)
    }

    private func begin(
        _ provider: SamlProvider, _ record: RegistrationRecord, _ sent: StartSignInRequest, isHandedOver: Bool, _ now: Timestamp
    ) async throws(Fault) -> SignInStart {
        let relay = RelayHandle.random(from: random)
        let browser = isHandedOver ? nil : BrowserSecret.random(from: random)
        let request = SamlRequest(
            id: .random(from: random), relay: relay, requestor: record.requestor, provider: provider, isPassive: sent.isPassive, now: now)
        let dispatch = try await offEventLoop { [saml] () throws(Fault) in try saml.request(request) }
        let pending = PendingSignIn(
            requestID: request.id, relayState: relay.digest, browserSecret: browser?.digest, record: record.id, code: record.code,
            requestor: record.requestor, mvpd: MvpdID(provider.mvpd.id), issuerSent: dispatch.issuer, redirectURL: sent.redirectURL,
            startedAt: now, expiresAt: min(record.expiresAt, now + Self.longestPending))
        // The code may have been used or deleted since it was read.
        guard try await store.begin(pending, now: now) else { throw RegistrationCodes.spentCode }
        metrics.startedSignIns.increment()
        // A silent attempt is no person's.
        if !sent.isPassive { metrics.mvpds?.count(.begun, mvpd: pending.mvpd.text) }
        metrics.count(.authnAttempt, record, at: pending.mvpd)
        return SignInStart(
            url: dispatch.url, fields: dispatch.fields, browserSecret: browser?.text ?? "",
            expiresInSeconds: UInt32(clamping: (pending.expiresAt - now).components.seconds))
    }
}
