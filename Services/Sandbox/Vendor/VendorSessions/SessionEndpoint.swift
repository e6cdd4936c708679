internal import Clocks
internal import FoundationEssentials
internal import SandboxKit

/// Creates and resumes authentication sessions (rest-v2 §2.2, §2.3).
struct SessionEndpoint: Sendable {
    let memory: VendorMemory

    func create(_ call: VendorCall) throws -> VendorAnswer {
        let (answer, isReady): (SessionAnswer, Bool) = try memory.access { state in
            let caller = try DeviceCaller(call, state)
            var session = VendorSession(
                code: state.sessions.freshCode(), id: UUID().uuidString.lowercased(), serviceProvider: caller.serviceProvider.id,
                client: caller.client, device: caller.device, info: caller.info, address: call.address, identities: caller.identities,
                notBefore: call.now, notAfter: call.now + .seconds(state.behaviour.sessionSeconds))
            try Self.merge(call, into: &session, caller.serviceProvider, state)
            if let ready = state.readySession(session, at: call.now, isCreate: true) { return (ready, true) }
            state.sessions.add(session)
            return (SessionAnswer(session, incomplete: "resume", state.behaviour), false)
        }
        return try .json(answer, outcome: isReady ? answer.reasonType : answer.actionName)
    }

    func resume(_ call: VendorCall) throws -> VendorAnswer {
        let answer: SessionAnswer = try memory.access { state in
            let caller = try VendorCaller(call, state)
            var session = try state.sessions.session(call.parameter("code"), of: caller.serviceProvider.id, at: call.now)
            // One login per code (rest-v2 D7).
            if let mvpd = session.mvpd, session.finishedAt != nil {
                return .authorize(
                    "authenticated", mvpd: mvpd, of: session.serviceProvider, prefix: state.behaviour.sessionURLPrefix, sessionID: session.id,
                    code: session.code)
            }
            try Self.merge(call, into: &session, caller.serviceProvider, state)
            state.sessions.change(session)
            if let ready = state.readySession(session, at: call.now, isCreate: false) { return ready }
            return SessionAnswer(session, incomplete: "retry", state.behaviour)
        }
        return try .json(answer, outcome: answer.actionName)
    }

    /// Puts the parameters of the form over those of the session.
    private static func merge(
        _ call: VendorCall, into session: inout VendorSession, _ serviceProvider: VendorCatalogue.ServiceProvider, _ state: VendorState
    ) throws(VendorRefusal) {
        if let mvpd = call.field("mvpd") {
            _ = try DeviceCaller.integration(mvpd, of: serviceProvider.id, state)
            session.mvpd = mvpd
        }
        if let domain = RedirectAddress.domain(call.field("domainName")) {
            let isAccepted = !state.behaviour.strictDomains || RedirectAddress.lies(domain.lowercased(), in: serviceProvider.domains)
            session.domainName = isAccepted ? domain : nil
        }
        if let address = call.field("redirectUrl") {
            guard let checked = RedirectAddress.checked(address, for: serviceProvider) else { throw VendorRefusal(.invalidRedirectURL) }
            session.redirectURL = checked
        }
    }
}

extension VendorState {
    /// Why no login is needed, in the order of rest-v2 D10: a profile, a free trial, a degraded MVPD.
    fileprivate func readySession(_ session: VendorSession, at now: Timestamp, isCreate: Bool) -> SessionAnswer? {
        guard let mvpd = session.mvpd else { return nil }
        func authorize(_ reason: String) -> SessionAnswer {
            .authorize(
                reason, mvpd: mvpd, of: session.serviceProvider, prefix: behaviour.sessionURLPrefix, sessionID: session.id,
                code: isCreate ? nil : session.code)
        }
        let owner = ProfileOwner(client: session.client, device: session.device, serviceProvider: session.serviceProvider)
        if profiles.own(owner, mvpd, at: now) != nil { return authorize("authenticated") }
        if let shared = profiles.shared(session.identities, mvpd: mvpd, at: now), shared.1.notAfter > now {
            return authorize(isCreate ? "authenticatedSSO" : "authenticated")
        }
        if catalogue.mvpd(mvpd)?.tempPass != nil { return authorize("temporary") }
        if rule(.authNAll, session.serviceProvider, mvpd, resource: nil, at: now) != nil { return authorize("degraded") }
        return nil
    }
}

/// Tells what a code stands for (rest-v2 §2.4).
struct SessionReadEndpoint: Sendable {
    let memory: VendorMemory

    private struct Existing: Encodable {
        let serviceProvider: String
        let mvpd: String?
        let domainName: String?
        let redirectUrl: String?
    }

    private struct Body: Encodable {
        let existingParameters: Existing
        let missingParameters: [String]?
        let device: DeviceDescription
        let notBefore: String
        let notAfter: String
    }

    func answer(_ call: VendorCall) throws -> VendorAnswer {
        let (session, behaviour) = try memory.access { state in
            let caller = try VendorCaller(call, state)
            return (try state.sessions.session(call.parameter("code"), of: caller.serviceProvider.id, at: call.now), state.behaviour)
        }
        let missing = session.missing(behaviour)
        let body = Body(
            existingParameters: Existing(
                serviceProvider: session.serviceProvider, mvpd: session.mvpd, domainName: session.domainName, redirectUrl: session.redirectURL),
            missingParameters: missing.isEmpty ? nil : missing, device: DeviceDescription(session.info, address: session.address),
            notBefore: String(session.notBefore.milliseconds), notAfter: String(session.notAfter.milliseconds))
        return try .json(body, outcome: "session")
    }
}

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
