internal import Clocks

/// `GET /api/v2/{sp}/logout/{mvpd}` (rest-v2 §2.11).
struct LogoutEndpoint: Sendable {
    let memory: UpstreamMemory
    /// Base of the addresses that browsers open.
    let publicURL: String

    private struct Entry: Encodable {
        let actionName: String
        let actionType: String
        let mvpd: String
        var url: String?
    }

    private struct Body: Encodable { let logouts: [String: Entry] }

    func answer(_ call: UpstreamCall) throws -> UpstreamAnswer {
        let entry: Entry = try memory.access { state in
            let caller = try DeviceCaller(call, state)
            guard state.catalogue.mvpd(call.parameter("mvpd")) != nil else { throw UpstreamRefusal(.invalidMvpd) }
            guard let address = call.queryValue("redirectUrl").flatMap({ RedirectAddress.checked($0, for: caller.serviceProvider) }) else {
                throw UpstreamRefusal(.invalidRedirectURL)
            }
            let (mvpd, _) = try caller.integration(call.parameter("mvpd"), state)
            return logOut(caller, mvpd, leadingTo: address, &state, at: call.now)
        }
        return try .json(Body(logouts: [entry.mvpd: entry]), outcome: entry.actionName)
    }

    private func logOut(
        _ caller: DeviceCaller, _ mvpd: UpstreamCatalogue.Mvpd, leadingTo address: String, _ state: inout UpstreamState, at now: Timestamp
    ) -> Entry {
        let owner = ProfileOwner(client: caller.client, device: caller.device, serviceProvider: caller.serviceProvider.id)
        var keys = [UpstreamProfiles.Key(owner, mvpd.id), UpstreamProfiles.Key(owner, mvpd.id, isPartners: true)]
        for identity in caller.identities { keys += state.profiles.keys(of: identity, mvpd: mvpd.id) }
        let removed = Set(keys).compactMap { state.profiles[$0] }.filter { $0.isValid(at: now) }
        for key in keys { state.profiles.remove(key) }
        if removed.contains(where: { $0.kind == .appleSSO }) {
            return Entry(actionName: "partner_logout", actionType: "partner_interactive", mvpd: mvpd.id)
        }
        if mvpd.tempPass != nil { return Entry(actionName: "complete", actionType: "none", mvpd: mvpd.id) }
        guard !removed.isEmpty else {
            let isDegraded = state.rule(.authNAll, caller.serviceProvider.id, mvpd.id, resource: nil, at: now) != nil
            return Entry(actionName: isDegraded ? "complete" : "invalid", actionType: "none", mvpd: mvpd.id)
        }
        guard mvpd.hasLogout else { return Entry(actionName: "complete", actionType: "none", mvpd: mvpd.id) }
        let url = "\(publicURL)/mvpd/\(mvpd.id)/logout?redirect_url=\(FormFields.encoded(address))"
        return Entry(actionName: "logout", actionType: "interactive", mvpd: mvpd.id, url: url)
    }
}
