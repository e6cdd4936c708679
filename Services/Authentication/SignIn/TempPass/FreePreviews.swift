internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers

/// Lets a device in on trial, without anybody signing in (rest-v1 §3.21).
struct FreePreviews: CallRegistration {
    let bearers: BearerCheck
    /// The first that serves an attempt makes it.
    let methods: [any TrialMethod]

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.startFreePreview) { request, _ in
            let (record, catalogue) = try await start(request)
            return record.contract(in: catalogue)
        }
    }

    /// For the calling device.
    /// - Throws: The faults of `BearerCheck.device`; `invalid_request` (a parameter is missing, the MVPD is no TempPass, a promotional one
    ///   lacks the user, the trial is over), `invalid_domain`, `unknown_integration`.
    func start(_ request: StartFreePreviewRequest) async throws(Fault) -> (record: SessionRecord, catalogue: Catalogue) {
        let caller = try await bearers.device(request.call)
        for (name, value) in [("mso_id", request.mvpd), ("domain_name", request.domainName)] where value.isEmpty {
            throw Fault(.invalidRequest, "Required '\(name)' is not present")
        }
        let requestor = try caller.catalogue.requireRequestor(caller.requestor.text)
        try requestor.requireDomain(request.domainName)
        let mvpd = try caller.catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd).mvpd
        let attempt = TrialAttempt(
            caller: caller, call: request.call ?? DeviceCall(), requestor: requestor, mvpd: mvpd, genericData: request.genericData)
        guard let method = methods.first(where: { $0.serves(attempt) }) else {
            throw Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.")
        }
        return (try await method.begin(attempt), caller.catalogue)
    }
}

/// Trials that are kept here (rest-v1 §6.2).
struct OwnTrials: Sendable {
    let store: SqlAuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let scrambler: UserIDScrambler
    let metrics: AuthenticationMetrics

    /// - Throws: `invalid_request` (the MVPD is no TempPass, a promotional one lacks the user).
    func start(_ device: DeviceAtHand, _ mvpd: Mvpd, genericData: String) async throws(Fault) -> FreePreviewResult {
        let terms = try TrialTerms(mvpd)
        let user = try terms.user(in: genericData)
        let now = clock.now()
        let session = device.session(
            id: SessionID(random.uuid()), mvpd: MvpdID(mvpd.id), userID: scrambler.tempPass(device.key.device), createdAt: now,
            expiresAt: now + terms.lifetime, origin: SessionOrigin(kind: .tempPass, authenticatedAt: now))
        let result = try await store.start(FreePreview(session: session, user: user), now: now)
        if case .started = result { metrics.freePreviews.increment() }
        return result
    }
}

/// A trial that begins on the device itself.
struct DeviceTrialMethod: TrialMethod {
    let trials: OwnTrials

    func serves(_ attempt: TrialAttempt) -> Bool { true }

    func begin(_ attempt: TrialAttempt) async throws(Fault) -> SessionRecord {
        switch try await trials.start(DeviceAtHand(attempt.caller), attempt.mvpd, genericData: attempt.genericData) {
        case .started(let session): return session
        case .usedUp: throw FreePreview.usedUp
        case .codeGone: throw RegistrationCodes.unknownCode
        }
    }
}

/// A trial that begins in a browser, for the device that shows the code; the code is used up.
struct BrowserTrialMethod: BrowserSignInMethod {
    typealias Answer = Never

    let trials: OwnTrials

    func serves(_ attempt: BrowserAttempt) -> Bool { if case .tempPass = attempt.mvpd.signIn { true } else { false } }

    /// - Throws: `registration_code_spent`; `invalid_request` (a promotional TempPass lacks the user, the trial is over).
    func begin(_ attempt: BrowserAttempt) async throws(Fault) -> SignInStart {
        switch try await trials.start(DeviceAtHand(attempt.record), attempt.mvpd, genericData: attempt.request.genericData) {
        case .started: return SignInStart(url: attempt.request.redirectURL)
        case .usedUp: throw FreePreview.usedUp
        case .codeGone: throw RegistrationCodes.spentCode
        }
    }
}
