internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers

/// Sign-in by a platform's login, in the words of REST v1 (rest-v1 §3.12, §3.13).
struct PlatformSignIns: CallRegistration {
    let bearers: BearerCheck
    /// The first that serves an attempt makes it.
    let methods: [any PlatformSignInMethod]

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.createProfileRequest) { request, _ in try await create(request) }
        calls.unary(AuthenticationMethods.exchangePlatformProfile) { request, context in
            let (record, catalogue) = try await exchange(request, trace: context.trace)
            return record.contract(in: catalogue)
        }
    }

    /// The request that the app hands to the platform's framework.
    /// - Throws: As `BearerCheck.client`; `invalid_request` (device type, sign-in by the platform off, not `SUPPORTED`, the MVPD is bypassed
    ///   by a rule), `unknown_integration`.
    func create(_ request: CreateProfileRequestRequest) async throws(Fault) -> ProfileRequest {
        let client = try await bearers.client(request.accessToken, requestor: request.requestor)
        guard !client.isShared else { throw Fault(.insufficientScope, "The call needs a client of the device's own.") }
        _ = try client.catalogue.requireRequestor(request.requestor)
        let attempt = try Self.attempt(
            client, RequestorID(request.requestor), mvpd: request.mvpd, try PlatformSsoRules.platform(deviceType: request.deviceType))
        return try await method(for: attempt).begin(attempt)
    }

    /// Makes a session of what the framework got.
    /// - Throws: As `BearerCheck.device`; `invalid_request` (a parameter, sign-in by the platform off, or an answer that is not accepted),
    ///   `unknown_integration`. Why an answer is not accepted stands in the log.
    func exchange(
        _ request: ExchangePlatformProfileRequest, trace: TraceContext
    ) async throws(Fault) -> (record: SessionRecord, catalogue: Catalogue) {
        let caller = try await bearers.device(request.call, allowsShared: false, mayRequireInformation: false)
        for (name, value) in [("mvpd", request.mvpd), ("SAMLResponse", request.samlResponse)] where value.isEmpty {
            throw Fault(.invalidRequest, "Required '\(name)' is not present")
        }
        let platform = try PlatformSsoRules.platform(deviceType: caller.deviceType)
        let attempt = try Self.attempt(caller.client, caller.requestor, mvpd: request.mvpd, platform)
        let answer = PlatformAnswer(request: request, caller: caller, platform: platform)
        return (try await method(for: attempt).finish(answer, trace: trace), caller.catalogue)
    }

    private static func attempt(
        _ client: AuthenticatedClient, _ requestor: RequestorID, mvpd: String, _ platform: Platform
    ) throws(Fault) -> PlatformAttempt {
        let (integration, mvpd) = try client.catalogue.requireIntegration(requestor: requestor.text, mvpd: mvpd, platform: platform)
        return PlatformAttempt(client: client, requestor: requestor, integration: integration, mvpd: mvpd, platform: platform)
    }

    private func method(for attempt: PlatformAttempt) throws(Fault) -> any PlatformSignInMethod {
        guard let method = methods.first(where: { $0.serves(attempt) }) else {
            throw Fault(.invalidRequest, "The MVPD does not sign people in by this platform here.")
        }
        return method
    }
}

/// A platform's framework that signs people in at the MVPD itself, by SAML.
struct PlatformSamlMethod: PlatformSignInMethod {
    let requests: ProfileRequests
    let exchanger: PlatformExchanger

    func serves(_ attempt: PlatformAttempt) -> Bool { true }

    func begin(_ attempt: PlatformAttempt) async throws(Fault) -> ProfileRequest {
        try await requests.create(attempt.client, attempt.requestor, (attempt.integration, attempt.mvpd), attempt.platform).request
    }

    func finish(_ answer: PlatformAnswer, trace: TraceContext) async throws(Fault) -> SessionRecord {
        try await exchanger.exchange(answer.request, answer.caller, answer.platform, trace)
    }
}

/// Sign-in by a platform's login, in the words of REST v2 (rest-v2 §2.12, §2.13).
struct PartnerSignIns: Sendable {
    let bearers: BearerCheck
    let plans: SignInPlans
    let profiles: ProfileLookup
    let requests: ProfileRequests
    let exchanger: PlatformExchanger
    let clock: any WallClock

    /// - Throws: As `BeginPartnerSignIn`.
    func begin(_ request: BeginSignInRequest) async throws(Fault) -> SignInPlan {
        let caller = try await bearers.device(request.call, allowsShared: false)
        let owner = ProfileOwner(caller)
        let check = PartnerStatusCheck(caller, now: clock.now())
        let named = try? check.named()
        if let named {
            let mvpd = try ProfileLookup.parties(named.id, owner).mvpd
            if let plan = try await plans.excused(caller, mvpd) { return plan }
        }
        let sent = plans.usable(
            SignInParameters(mvpd: named?.id ?? "", domainName: request.domainName, redirectURL: request.redirectURL), owner,
            caller.client.application)
        guard !sent.domainName.isEmpty, !sent.redirectURL.isEmpty else { return try await plans.wait(caller, sent, because: .missing) }
        guard let provider = try? check.provider() else { return try await plans.wait(caller, sent, because: .partnerStatus) }
        let platform = owner.platform
        guard platform == .ios || platform == .tvos, let parties = try? ProfileLookup.parties(provider.id, owner) else {
            return try await plans.wait(caller, sent, because: .configuration)
        }
        do {
            let made = try await requests.create(caller.client, caller.requestor, parties, platform)
            return SignInPlan(
                step: .partner, id: plans.random.uuid(), mvpd: provider.id, verificationToken: made.request.verificationToken,
                attributeNames: made.attributes)
        } catch  where error.code == .invalidRequest {
            return try await plans.wait(caller, sent, because: .configuration)
        }
    }

    /// - Throws: As `ExchangePartnerProfile`.
    func exchange(_ request: ExchangePartnerProfileRequest, trace: TraceContext) async throws(Fault) -> Profiles {
        let caller = try await bearers.device(request.call, allowsShared: false)
        let provider = try PartnerStatusCheck(caller, now: clock.now()).provider()
        guard !request.samlResponse.isEmpty else { throw Self.badResponse }
        let parties = try ProfileLookup.parties(provider.id, ProfileOwner(caller))
        if let session = profiles.degraded(DeviceAtHand(caller), parties.mvpd, in: caller.catalogue) {
            return try await profiles.profiles([session], in: caller.catalogue)
        }
        let platform = caller.information.platform
        guard platform == .ios || platform == .tvos, (try? PlatformSsoRules.requireOn(parties.integration, parties.mvpd, platform)) != nil else {
            throw Fault(.invalidConfigurationPlatformServices, "The platform signs nobody in at the MVPD here.")
        }
        let sent = ExchangePlatformProfileRequest(call: request.call, mvpd: provider.id, samlResponse: request.samlResponse)
        do {
            return try await profiles.profiles([try await exchanger.exchange(sent, caller, platform, trace)], in: caller.catalogue)
        } catch  where error.code == .invalidRequest {
            throw Self.badResponse
        }
    }

    /// Why stands in the log.
    private static let badResponse = Fault(.invalidParameterSamlResponse, "The SAML response is missing, or it is not accepted.")
}

extension PartnerSignIns: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.beginPartnerSignIn) { request, _ in try await begin(request) }
        calls.unary(AuthenticationMethods.exchangePartnerProfile) { request, context in try await exchange(request, trace: context.trace) }
    }
}

/// Makes the verification tokens that apps hand to a platform's framework (rest-v1 §3.13).
struct ProfileRequests: Sendable {
    let saml: any SamlSignIn
    let store: SqlAuthenticationStore
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
