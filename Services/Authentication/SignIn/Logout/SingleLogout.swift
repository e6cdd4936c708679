internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers
internal import SamlExplanation
internal import SamlProfile

/// Ends sessions (rest-v1 §3.20), takes a browser through the logouts of the MVPDs, and obeys the logouts that they ask for (mvpd §2.7).
struct SingleLogout: Sendable {
    let bearers: BearerCheck
    let saml: any SamlLogout
    let catalogue: any CatalogueSource
    let store: SqlAuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    /// The gateway's address, before the handle.
    let visitAddress: String
    /// The gateway's address to which browsers come back from OpenID providers; before `?state=`.
    let returnAddress: String
    let seal: TokenSeal
    let metrics: AuthenticationMetrics
    let log: LogoutLog
    /// Those that tell a provider by themselves.
    let methods: [any SignInMethod]

    /// Ends the device's session at the requestor, or at every requestor of the application when the call names none (rest-v1 §3.20).
    /// - Parameter end: Where the browser whose call it is goes at last, empty: nowhere; `nil`: it is an app's.
    /// - Returns: The sessions that ended, but for those that came by an upstream; and the browser's destination after their MVPDs' logouts. That is
    ///   an upstream's logout page, or `end`.
    /// - Throws: As `BearerCheck.device`; faults of the store.
    func end(_ call: DeviceCall?, leadingTo end: String?) async throws(Fault) -> (ended: EndedSessions, elsewhere: Int, end: String) {
        let caller = try await bearers.device(call, requiresRequestor: false)
        let requestors = caller.requestor.text.isEmpty ? caller.client.requestors : [caller.requestor]
        // The data that goes with the sessions is read before them: a session that begins meanwhile has no hint.
        let hints = end == nil ? [:] : try await hints(at: requestors.map { SessionKey(device: caller.device, requestor: $0) })
        let ended = try await store.end(device: caller.device, requestors: requestors, claims: caller.claims, now: clock.now())
        metrics.endedSessions.increment(by: ended.count)
        var told = EndedAtProvider(end: end ?? "")
        for method in methods {
            guard let more = try await method.end(ended, leadingTo: end.map { _ in told.end }) else { continue }
            told.sessions.formUnion(more.sessions)
            told.end = more.end
        }
        return (EndedSessions(records: ended.filter { !told.sessions.contains($0.id) }, hints: hints), told.sessions.count, told.end)
    }

    /// Ends the device's sessions, and says where the browser goes, if the call has one.
    func logout(_ request: LogoutRequest) async throws(Fault) -> LogoutResponse {
        let (ended, elsewhere, end) = try await end(request.call, leadingTo: request.hasBrowser ? request.redirectURL : nil)
        let visit = request.hasBrowser ? try await begin(for: ended, redirectURL: end) : ""
        let isLedElsewhere = visit.isEmpty && request.hasBrowser && OctetText(end) != OctetText(request.redirectURL)
        return LogoutResponse(ended: UInt32(clamping: ended.count + elsewhere), visitURL: isLedElsewhere ? end : visit)
    }

    /// The sealed id_tokens of the devices' sessions.
    func hints(at keys: [SessionKey]) async throws(Fault) -> [SessionID: [UInt8]] {
        var hints: [SessionID: [UInt8]] = [:]
        for key in keys { hints.merge(try await store.identityTokens(at: key)) { $1 } }
        return hints
    }

    /// Notes the visits that the ended sessions call for.
    /// - Parameter redirectURL: Where the browser goes after the last; empty: nowhere.
    /// - Returns: The address of the first visit; empty when there is none.
    func begin(for ended: EndedSessions, redirectURL: String) async throws(Fault) -> String {
        let catalogue = try catalogue.current()
        let plan = LogoutPlan(visitAddress: visitAddress, catalogue: catalogue)
        for session in plan.sessionsWithoutName(among: ended.records) { log.skipped(session) }
        var visits: [PendingLogout] = []
        var next = redirectURL
        for session in plan.sessions(toVisitFor: ended.hintedFirst).reversed() {
            if case .openID(let provider) = LogoutWay(session.mvpd, for: session.key.requestor, in: catalogue) {
                next = try add(session, at: provider, ended.hints[session.id], leadingTo: next, to: &visits)
            } else {
                next = plan.address(add(session, name: session.subject.name, leadingTo: next, to: &visits))
            }
        }
        guard !visits.isEmpty else { return "" }
        try await store.add(visits)
        return next
    }

    /// - Returns: The handle of the visit.
    private func add(
        _ session: SessionRecord, at mvpd: MvpdID? = nil, name: SubjectName, leadingTo next: String, to visits: inout [PendingLogout]
    ) -> RelayHandle {
        let handle = RelayHandle.random(from: random)
        visits.append(
            PendingLogout(
                handle: handle.digest, requestID: nil, requestor: session.key.requestor, mvpd: mvpd ?? session.mvpd, name: name, redirectURL: next,
                expiresAt: clock.now() + PendingLogout.lifetime))
        return handle
    }

    /// A visit at an OpenID provider, and the way back from there.
    /// - Returns: The address of the visit.
    private func add(
        _ session: SessionRecord, at provider: OAuthProvider, _ hint: [UInt8]?, leadingTo next: String, to visits: inout [PendingLogout]
    ) throws(Fault) -> String {
        // No MVPD: the browser was there when it comes with this handle.
        let state = add(session, at: MvpdID(""), name: SubjectName(), leadingTo: next, to: &visits)
        let subject = provider.endpoint.userClaim == "sub" ? session.subject.userID : ""
        let handle = add(
            session, name: SubjectName(value: subject), leadingTo: returnAddress + Self.stateParameter + state.text, to: &visits)
        // One that a key sealed which is gone is none.
        if let hint, let token = seal.open(hint, of: session.id, as: ProviderIdentityToken.self) {
            visits[visits.count - 1].hint = try seal.close(token, of: handle.digest)
        }
        return visitAddress + handle.text
    }

    private static let stateParameter = "?state="

    /// The browser goes on to the MVPD. A second call sends it there again.
    func visit(_ text: String, trace: TraceContext) async throws(Fault) -> LogoutStep {
        let handle = RelayHandle(text)
        let id = SamlRequestID.random(from: random)
        guard let pending = try await store.visit(handle.digest, as: id, now: clock.now()) else {
            return log.rejected(Self.unknownState, trace: trace)
        }
        guard
            let way = LogoutWay(
                pending.mvpd, for: pending.requestor, in: try catalogue.current(), returnURL: pending.redirectURL)
        else {
            return goOn(pending, trace)
        }
        metrics.startedLogouts.increment()
        switch way {
        case .openID(let provider):
            let step = openID(pending, handle.digest, provider).step
            return LogoutStep(result: .goesOn, url: step.url, fields: step.fields, traceID: trace.traceID)
        case .address(let url):
            _ = try await store.finish(handle.digest, request: id)
            return LogoutStep(result: .goesOn, url: url, traceID: trace.traceID)
        case .saml(let provider):
            let visit = self.visit(pending, id, handle, provider)
            let dispatch = try await offEventLoop { [saml] () throws(Fault) in try saml.logoutRequest(visit) }
            return LogoutStep(result: .goesOn, url: dispatch.url, fields: dispatch.fields, traceID: trace.traceID)
        }
    }

    private func openID(_ pending: PendingLogout, _ handle: SecretDigest, _ provider: OAuthProvider) -> OpenIDLogout {
        // A logout that began before the record said that browsers come back to us has another address as its end.
        let own = returnAddress + Self.stateParameter
        let isOwn = pending.redirectURL.hasPrefix(own)
        return OpenIDLogout(
            provider: provider, hint: pending.hint.flatMap { seal.open($0, of: handle, as: ProviderIdentityToken.self) },
            subject: pending.name.value, returnAddress: isOwn ? returnAddress : pending.redirectURL,
            state: isOwn ? String(pending.redirectURL.dropFirst(own.count)) : "")
    }

    /// A message at the logout address. One that fails a check is an outcome, not a fault.
    func receive(_ call: SamlLogoutMessage, trace: TraceContext) async throws(Fault) -> LogoutStep {
        let message: UnverifiedLogout
        do throws(SamlRejection) {
            message = try Self.message(call)
        } catch {
            // The engineer is told whose logout it was; the message is refused whatever the store says.
            let known = call.relayState.isEmpty ? nil : try? await store.pendingLogout(RelayHandle(call.relayState).digest, now: clock.now())
            return log.rejected(error, mvpd: known?.mvpd, requestor: known?.requestor, trace: trace)
        }
        return message.isRequest ? try await obey(message, trace) : try await conclude(message, trace)
    }

    private static func message(_ call: SamlLogoutMessage) throws(SamlRejection) -> UnverifiedLogout {
        guard call.query.isEmpty else { return try UnverifiedLogout(query: call.query) }
        return try UnverifiedLogout(
            request: call.samlRequest, response: call.samlResponse, relayState: call.relayState.isEmpty ? nil : call.relayState)
    }

    private static let unknownState = SamlRejection(.unknownState, "The handle does not lead to a pending logout.")
}

// The MVPD's answer.
extension SingleLogout {
    private func conclude(_ message: UnverifiedLogout, _ trace: TraceContext) async throws(Fault) -> LogoutStep {
        let now = clock.now()
        let handle = RelayHandle(message.relayState ?? "")
        guard let pending = try await store.pendingLogout(handle.digest, now: now), let id = pending.requestID,
            case .saml(let provider) = LogoutWay(pending.mvpd, for: pending.requestor, in: try catalogue.current())
        else { return log.rejected(Self.unknownState, trace: trace) }
        let visit = self.visit(pending, id, handle, provider)
        let answer = try await offEventLoop { [saml] () throws(Fault) -> Result<LogoutAnswer, SamlRejection> in
            do throws(SamlRejection) { return .success(try saml.answer(message, to: visit)) } catch { return .failure(error) }
        }
        switch answer {
        case .failure(let rejection): return log.rejected(rejection, mvpd: pending.mvpd, requestor: pending.requestor, trace: trace)
        case .success(let answer):
            guard try await store.finish(handle.digest, request: id) else { return log.rejected(Self.unknownState, mvpd: pending.mvpd, trace: trace) }
            log.answered(answer, mvpd: pending.mvpd, trace: trace)
            if case .failed = answer { return LogoutStep(result: .rejected, traceID: trace.traceID) }
            return goOn(pending, trace)
        }
    }

    private func goOn(_ pending: PendingLogout, _ trace: TraceContext) -> LogoutStep {
        LogoutStep(result: pending.redirectURL.isEmpty ? .done : .goesOn, url: pending.redirectURL, traceID: trace.traceID)
    }

    private func visit(_ pending: PendingLogout, _ id: SamlRequestID, _ handle: RelayHandle, _ provider: SamlProvider) -> LogoutVisit {
        LogoutVisit(
            requestID: id, relay: handle, requestor: pending.requestor, provider: provider, name: pending.name, now: clock.now())
    }
}

// The MVPD's own request.
extension SingleLogout {
    private func obey(_ message: UnverifiedLogout, _ trace: TraceContext) async throws(Fault) -> LogoutStep {
        let now = clock.now()
        let found = try await senders(of: message, now)
        let senders: Senders
        switch found {
        case .failure(let rejection): return log.rejected(rejection, trace: trace)
        case .success(let verified): senders = verified
        }
        let request = senders.request
        let logout = MvpdLogout(
            replay: .init(issuer: request.issuer, assertionID: request.id, expiresAt: request.expiresAt),
            mvpds: senders.providers.map { MvpdID($0.mvpd.id) }, name: SubjectName(request.nameID), sessionIndexes: request.sessionIndexes)
        guard case .ended(let ended) = try await store.end(logout, now: now) else {
            return log.rejected(SamlRejection(.replay, "The request was used before."), mvpd: logout.mvpds.first, trace: trace)
        }
        metrics.endedSessions.increment(by: ended.count)
        log.obeyed(ended.count, mvpds: logout.mvpds, trace: trace)
        let provider = senders.providers[0]
        guard !provider.endpoint.logoutURL.isEmpty || !provider.endpoint.logoutResponseURL.isEmpty else {
            return LogoutStep(result: .done, traceID: trace.traceID)
        }
        let reply = LogoutReply(
            id: .random(from: random), provider: provider, requestor: ended.first?.key.requestor, inResponseTo: request.id,
            relayState: message.relayState, now: now)
        let dispatch = try await offEventLoop { [saml] () throws(Fault) in try saml.logoutResponse(reply) }
        return LogoutStep(result: .goesOn, url: dispatch.url, fields: dispatch.fields, traceID: trace.traceID)
    }

    /// A request and every MVPD whose key signed it, at least one.
    private struct Senders: Sendable {
        let request: VerifiedLogoutRequest
        let providers: [SamlProvider]
    }

    /// Several MVPDs of the catalogue may be reached at the same provider.
    private func senders(of message: UnverifiedLogout, _ now: Timestamp) async throws(Fault) -> Result<Senders, SamlRejection> {
        let catalogue = try catalogue.current()
        return try await offEventLoop { [saml] () throws(Fault) in
            do throws(SamlRejection) {
                return .success(try Self.verify(message, in: catalogue, saml, now))
            } catch {
                return .failure(error)
            }
        }
    }

    private static func verify(
        _ message: UnverifiedLogout, in catalogue: Catalogue, _ saml: any SamlLogout, _ now: Timestamp
    ) throws(SamlRejection) -> Senders {
        let issuer = try message.claimedIssuer()
        var failure = SamlRejection(.issuer, "No MVPD has the issuer of the request.")
        var verified: (request: VerifiedLogoutRequest, providers: [SamlProvider])?
        for mvpd in catalogue.configuration.mvpds {
            guard let provider = try? SamlProvider(mvpd, in: catalogue), provider.expectedIssuer.accepts(issuer) else { continue }
            do throws(SamlRejection) {
                let request = try saml.request(message, from: provider, now: now)
                verified = (request, (verified?.providers ?? []) + [provider])
            } catch {
                failure = error
            }
        }
        guard let verified else { throw failure }
        return Senders(request: verified.request, providers: verified.providers)
    }
}

extension SingleLogout: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.logout) { request, _ in try await logout(request) }
        calls.unary(AuthenticationMethods.visitLogout) { request, context in try await visit(request.handle, trace: context.trace) }
        calls.unary(AuthenticationMethods.receiveSamlLogout) { request, context in try await receive(request, trace: context.trace) }
    }
}
