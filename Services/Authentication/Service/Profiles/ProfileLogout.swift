internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults

/// Ends what a device has at one MVPD (rest-v2 §2.11).
struct ProfileLogout: Sendable {
    let bearers: BearerCheck
    let logouts: SingleLogout
    let store: any AuthenticationStore
    let sessions: SessionLookup
    let clock: any WallClock
    let metrics: AuthenticationMetrics
    let activationOrigins: Set<String>

    /// - Throws: As `EndProfile`.
    func end(_ request: EndProfileRequest) async throws(Fault) -> EndedProfile {
        let caller = try await bearers.device(request.call)
        let owner = ProfileOwner(caller)
        guard owner.catalogue.mvpd(request.mvpd) != nil else { throw Fault(.invalidMvpd, "The MVPD is missing or not known.") }
        try requireAddress(request.redirectURL, caller)
        let mvpd = try ProfileLookup.parties(request.mvpd, owner).mvpd
        if case .tempPass = mvpd.signIn { return EndedProfile(end: .complete) }
        let shared = try await sessions.profile(of: caller, at: MvpdID(mvpd.id)).flatMap { $0.kind == .shared ? $0 : nil }
        let ended = try await store.end(owner.key, client: owner.client, mvpd: MvpdID(mvpd.id), now: clock.now())
        metrics.endedSessions.increment(by: ended == nil ? 0 : 1)
        guard let session = ended ?? shared else { return EndedProfile(end: isBypassed(mvpd, owner) ? .complete : .none) }
        if session.kind == .platform { return EndedProfile(end: .platform) }
        if session.kind == .degraded { return EndedProfile(end: .complete) }
        let visit = try await logouts.begin(for: [session], redirectURL: request.redirectURL)
        return EndedProfile(end: visit.isEmpty ? .complete : .visit, visitURL: visit)
    }

    private func isBypassed(_ mvpd: Mvpd, _ owner: ProfileOwner) -> Bool {
        owner.catalogue.degradation(
            requestor: owner.key.requestor.text, mvpd: mvpd.id, platform: owner.platform, resource: nil, now: clock.now()) != nil
    }

    private func requireAddress(_ address: String, _ caller: DeviceCaller) throws(Fault) {
        let requestor = try caller.catalogue.requireRequestor(caller.requestor.text)
        let isAccepted = RedirectRules.accepts(
            signInEnd: address, requestor: requestor, customSchemes: caller.catalogue.customSchemes(of: requestor),
            application: caller.client.application, activationOrigins: activationOrigins)
        guard isAccepted else {
            throw Fault(.invalidRedirectURL, "The redirect URL is missing, or not at a domain or with a scheme of the service provider.")
        }
    }
}
