internal import Clocks
internal import FoundationEssentials

/// Creates and resumes authentication sessions (rest-v2 §2.2, §2.3).
struct SessionEndpoint: Sendable {
    let memory: UpstreamMemory

    func create(_ call: UpstreamCall) throws -> UpstreamAnswer {
        let (answer, isReady): (SessionAnswer, Bool) = try memory.access { state in
            let caller = try DeviceCaller(call, state)
            var session = UpstreamSession(
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

    func resume(_ call: UpstreamCall) throws -> UpstreamAnswer {
        let answer: SessionAnswer = try memory.access { state in
            let caller = try UpstreamCaller(call, state)
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
        _ call: UpstreamCall, into session: inout UpstreamSession, _ serviceProvider: UpstreamCatalogue.ServiceProvider, _ state: UpstreamState
    ) throws(UpstreamRefusal) {
        if let mvpd = call.field("mvpd") {
            _ = try DeviceCaller.integration(mvpd, of: serviceProvider.id, state)
            session.mvpd = mvpd
        }
        if let domain = RedirectAddress.domain(call.field("domainName")) {
            let isAccepted = !state.behaviour.strictDomains || RedirectAddress.lies(domain.lowercased(), in: serviceProvider.domains)
            session.domainName = isAccepted ? domain : nil
        }
        if let address = call.field("redirectUrl") {
            guard let checked = RedirectAddress.checked(address, for: serviceProvider) else { throw UpstreamRefusal(.invalidRedirectURL) }
            session.redirectURL = checked
        }
    }
}

extension UpstreamState {
    /// Why no login is needed, in the order of rest-v2 D10: a profile, a free trial, a degraded MVPD.
    fileprivate func readySession(_ session: UpstreamSession, at now: Timestamp, isCreate: Bool) -> SessionAnswer? {
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
