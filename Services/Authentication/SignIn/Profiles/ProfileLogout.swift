internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Ends what a device has at one MVPD (rest-v2 §2.11).
struct ProfileLogout: Sendable {
    let bearers: BearerCheck
    let logouts: SingleLogout
    let store: SqlAuthenticationStore
    let sessions: SessionLookup
    let clock: any WallClock
    let metrics: AuthenticationMetrics
    let ends: SignInEnds

    /// - Throws: As `EndProfile`.
    func end(_ request: EndProfileRequest) async throws(Fault) -> EndedProfile {
        let caller = try await bearers.device(request.call)
        let owner = ProfileOwner(caller)
        guard owner.catalogue.mvpd(request.mvpd) != nil else { throw Fault(.invalidMvpd, "The MVPD is missing or not known.") }
        let requestor = try owner.catalogue.requireRequestor(caller.requestor.text)
        try ends.require(request.redirectURL, at: requestor, of: caller.client.application, in: owner.catalogue)
        let mvpd = try ProfileLookup.parties(request.mvpd, owner).mvpd
        if case .tempPass = mvpd.signIn { return EndedProfile(end: .complete) }
        let (ended, hints) = try await endAll(caller, owner, at: MvpdID(mvpd.id))
        metrics.endedSessions.increment(by: ended.count)
        guard !ended.isEmpty else { return EndedProfile(end: owner.isLetIn(at: mvpd, now: clock.now()) ? .complete : .none) }
        // rest-v2 D16.
        if ended.contains(where: { $0.kind == .platform }) { return EndedProfile(end: .platform) }
        let visit = try await logouts.begin(for: EndedSessions(records: ended, hints: hints), redirectURL: request.redirectURL)
        return EndedProfile(end: visit.isEmpty ? .complete : .visit, visitURL: visit)
    }

    /// Ends the device's sessions. It also ends the logins taken over by the platform's identity or a service token: their user logs out (rest-v2 §5
    /// I, J).
    private func endAll(_ caller: DeviceCaller, _ owner: ProfileOwner, at mvpd: MvpdID) async throws(Fault) -> (
        [SessionRecord], hints: [SessionID: [UInt8]]
    ) {
        let shared = try await sessions.loginsOffered(to: caller, at: mvpd)
        let hints = try await logouts.hints(at: [owner.key] + shared.map(\.key))
        let now = clock.now()
        var ended: [SessionRecord] = []
        if let own = try await store.end(owner.key, client: owner.client, mvpd: mvpd, now: now) { ended.append(own) }
        for login in shared {
            if let other = try await store.end(login.key, client: login.clientID, mvpd: mvpd, now: now) { ended.append(other) }
        }
        return (ended, hints)
    }
}

extension ProfileLogout: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.endProfile) { request, _ in try await end(request) }
    }
}
