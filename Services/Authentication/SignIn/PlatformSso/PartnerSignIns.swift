internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults

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
