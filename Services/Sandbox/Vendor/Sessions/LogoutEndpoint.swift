internal import SandboxKit
internal import Clocks

/// `GET /api/v2/{sp}/logout/{mvpd}` (rest-v2 §2.11).
struct LogoutEndpoint: Sendable {
    let memory: VendorMemory
    /// Base of the addresses that browsers open.
    let publicURL: String

    private struct Entry: Encodable {
        let actionName: String
        let actionType: String
        let mvpd: String
        var url: String?
    }

    private struct Body: Encodable { let logouts: [String: Entry] }

    func answer(_ call: VendorCall) throws -> VendorAnswer {
        let entry: Entry = try memory.access { state in
            let caller = try DeviceCaller(call, state)
            guard state.catalogue.mvpd(call.parameter("mvpd")) != nil else { throw VendorRefusal(.invalidMvpd) }
            guard let address = call.queryValue("redirectUrl").flatMap({ RedirectAddress.checked($0, for: caller.serviceProvider) }) else {
                throw VendorRefusal(.invalidRedirectURL)
            }
            let (mvpd, _) = try caller.integration(call.parameter("mvpd"), state)
            return logOut(caller, mvpd, leadingTo: address, &state, at: call.now)
        }
        return try .json(Body(logouts: [entry.mvpd: entry]), outcome: entry.actionName)
    }

    private func logOut(
        _ caller: DeviceCaller, _ mvpd: VendorCatalogue.Mvpd, leadingTo address: String, _ state: inout VendorState, at now: Timestamp
    ) -> Entry {
        let owner = ProfileOwner(client: caller.client, device: caller.device, serviceProvider: caller.serviceProvider.id)
        var keys = [VendorProfiles.Key(owner, mvpd.id), VendorProfiles.Key(owner, mvpd.id, isPartners: true)]
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

/// `DELETE /reset-tempass/v3/…` of the management host (rest-v2 §2.14).
struct TempPassResetEndpoint: Sendable {
    let memory: VendorMemory

    /// Resets the trials of a device, or all.
    func byDevice(_ call: VendorCall) throws -> VendorAnswer { try reset(call, device: call.queryValue("device_id"), identity: nil) }

    /// Resets the trials of an identity, or all.
    func byIdentity(_ call: VendorCall) throws -> VendorAnswer { try reset(call, device: nil, identity: call.queryValue("key")) }

    private func reset(_ call: VendorCall, device: String?, identity: String?) throws -> VendorAnswer {
        try memory.access { state in
            let client = try VendorCaller.client(call, state, scope: SoftwareStatement.resetScope)
            guard let provider = call.queryValue("requestor_id"), let mvpd = call.queryValue("mvpd_id"), state.catalogue.mvpd(mvpd)?.tempPass != nil
            else { return try .dcr("invalid_request") }
            guard state.registry.statement(id: client.statement)?.covers(provider) == true else {
                return .empty(403, outcome: "foreign-service-provider")
            }
            state.trials.reset(provider, mvpd, device: Self.named(device), identity: Self.named(identity))
            return .empty(204, outcome: "reset")
        }
    }

    /// `all` names nobody.
    private static func named(_ text: String?) -> String? { text == "all" ? nil : text }
}
