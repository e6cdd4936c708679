internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers

/// Lets a device in on trial, without anybody signing in (rest-v1 §3.21, §6.2).
struct FreePreviews: Sendable {
    let bearers: BearerCheck
    let store: any TrialStore
    let clock: any WallClock
    let random: any RandomSource
    let scrambler: UserIDScrambler
    let metrics: AuthenticationMetrics
    /// `nil`: no upstream is used.
    let bridge: BridgedTrials?

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
        if let way = caller.catalogue.bridgeWay(requestor: requestor.id, mvpd: mvpd.id), let bridge {
            let session = try await bridge.start(caller, BridgeDevice(request.call ?? DeviceCall()), way, genericData: request.genericData)
            metrics.freePreviews.increment()
            return (session, caller.catalogue)
        }
        switch try await start(DeviceAtHand(caller), mvpd, genericData: request.genericData) {
        case .started(let session): return (session, caller.catalogue)
        case .usedUp: throw Self.usedUp
        case .codeGone: throw RegistrationCodes.unknownCode
        }
    }

    /// For the device that shows the code; the code is used up.
    /// - Returns: `nil` when the code is no longer live or was used before; nothing changed.
    /// - Throws: `invalid_request` (a promotional TempPass lacks the user, the trial is over).
    func start(_ record: RegistrationRecord, mvpd: Mvpd, genericData: String) async throws(Fault) -> SessionRecord? {
        switch try await start(DeviceAtHand(record), mvpd, genericData: genericData) {
        case .started(let session): return session
        case .usedUp: throw Self.usedUp
        case .codeGone: return nil
        }
    }

    private func start(_ device: DeviceAtHand, _ mvpd: Mvpd, genericData: String) async throws(Fault) -> FreePreviewResult {
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

    static let usedUp = Fault(.invalidRequest, "The free preview has been used up.")
}
