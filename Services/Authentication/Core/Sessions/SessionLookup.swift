package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults

/// Finds sessions (rest-v1 §3.9-3.11).
package struct SessionLookup: Sendable {
    package let bearers: BearerCheck
    package let catalogue: any CatalogueSource
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let metrics: AuthenticationMetrics
    package let stored: StoredSessions
    /// Those that know by themselves who is signed in.
    package let methods: [any SignInMethod]

    /// The valid session of the calling device, or the one that a stored token names.
    /// - Parameter hidesDisabled: False for a service that has to tell a person without a session from an integration that is switched off
    ///   (rest-v1 #51).
    /// - Throws: The faults of `BearerCheck.device`; `authentication_session_missing`, `authentication_session_expired`,
    ///   `authentication_session_invalidated`; `unknown_integration` for a service that tells them apart, where an upstream has closed the
    ///   integration.
    package func session(of call: DeviceCall?, hidesDisabled: Bool) async throws(Fault) -> (record: SessionRecord, catalogue: Catalogue) {
        if let call, let token = call.storedToken {
            let found = try await stored.session(of: call, token, hidesDisabled: hidesDisabled)
            guard try await isHidden(found.record) else { return found }
            throw hidesDisabled ? SessionState.nobody : Self.closed
        }
        let caller = try await bearers.device(call)
        return (try await state(of: caller, call, hidesDisabled: hidesDisabled).requireValid(), caller.catalogue)
    }

    /// The same for a call that may name no requestor: then the first session that the device has at one of the application's (clients §1.6).
    package func session(anywhere call: DeviceCall?) async throws(Fault) -> (record: SessionRecord, catalogue: Catalogue) {
        guard call?.requestor.isEmpty ?? true else { return try await session(of: call, hidesDisabled: true) }
        let anywhere = try await bearers.device(call, requiresRequestor: false)
        var best = SessionState.missing
        for requestor in anywhere.client.requestors {
            let state = try await state(of: anywhere.at(requestor), call, hidesDisabled: true)
            if case .valid(let record) = state { return (record, anywhere.catalogue) }
            switch (state, best) {
            case (.expired, _), (.ended, .missing): best = state
            default: break
            }
        }
        return (try best.requireValid(), anywhere.catalogue)
    }

    /// The calling device's state at the requestor: its own session, or one that it takes over.
    /// - Parameter call: As it came; `nil`: nothing of it may name a person to an upstream.
    package func state(of caller: DeviceCaller, _ call: DeviceCall? = nil, hidesDisabled: Bool) async throws(Fault) -> SessionState {
        let key = SessionKey(device: caller.device, requestor: caller.requestor)
        for method in methods { try await method.settle(caller, call) }
        let records = try await store.sessions(key)
        func judged(_ records: [SessionRecord]) -> SessionState {
            SessionState.of(records, claims: caller.claims, visibleIn: caller.catalogue, hidesDisabled: hidesDisabled, now: clock.now())
        }
        let open = try await shown(records)
        let state = judged(open)
        if case .valid = state { return state }
        if !hidesDisabled, open.count < records.count, case .valid = judged(records) { throw Self.closed }
        if let shared = try await shared(caller) { return .valid(shared) }
        // One that is hidden has not ended.
        guard case .missing = state, open.count == records.count, try await hasEnded(caller) else { return state }
        return .ended
    }

    private func hasEnded(_ caller: DeviceCaller) async throws(Fault) -> Bool {
        for method in methods where try await method.hasEnded(caller) { return true }
        return false
    }

    private static let closed = Fault(.unknownIntegration, "The provider is not available for this channel.")

    private func isHidden(_ record: SessionRecord) async throws(Fault) -> Bool {
        for method in methods where try await method.hides(record) { return true }
        return false
    }

    private func shown(_ records: [SessionRecord]) async throws(Fault) -> [SessionRecord] {
        var shown: [SessionRecord] = []
        for record in records where try await !isHidden(record) { shown.append(record) }
        return shown
    }

    // MARK: REST v2: by client and MVPD

    /// The profiles of the device's own client at the requestor, at most one of each MVPD (rest-v2 §2.6). Where it has none, it takes others over.
    package func profiles(of caller: DeviceCaller) async throws(Fault) -> [SessionRecord] {
        let own = try await own(of: caller).filter { record in
            if case .valid = state(of: [record], for: caller) { true } else { false }
        }
        let taken = Set(own.map(\.mvpd))
        return own + (try await offered(to: caller).filter { !taken.contains($0.mvpd) })
    }

    /// The same at one MVPD.
    package func profile(of caller: DeviceCaller, at mvpd: MvpdID) async throws(Fault) -> SessionRecord? {
        if case .valid(let session) = try await state(of: caller, at: mvpd) { session } else { nil }
    }

    /// The same, and whether it has expired.
    package func state(of caller: DeviceCaller, at mvpd: MvpdID) async throws(Fault) -> SessionState {
        let state = state(of: try await own(of: caller).filter { $0.mvpd == mvpd }, for: caller)
        if case .valid = state { return state }
        return try await offered(to: caller).first { $0.mvpd == mvpd }.map(SessionState.valid) ?? state
    }

    private func own(of caller: DeviceCaller) async throws(Fault) -> [SessionRecord] {
        try await store.sessions(SessionKey(device: caller.device, requestor: caller.requestor))
            .filter { $0.clientID == caller.client.id && $0.isProfile && isShown($0, to: caller) }
    }

    /// A platform's login is only shown where the platform still has it (rest-v2 §2.6).
    private func isShown(_ record: SessionRecord, to caller: DeviceCaller) -> Bool {
        record.kind != .platform || (try? PartnerStatusCheck(caller, now: clock.now()).provider(expected: record.mvpd)) != nil
    }

    /// Returns why a platform's login that the device has at an MVPD is not shown for a decision.
    /// - Returns: `nil` where there is none, or the call says nothing of the platform.
    package func partnerFault(of caller: DeviceCaller, at mvpd: MvpdID) async throws(Fault) -> Fault? {
        guard caller.partner != nil else { return nil }
        let records = try await store.sessions(SessionKey(device: caller.device, requestor: caller.requestor))
        guard let record = records.first(where: { $0.clientID == caller.client.id && $0.kind == .platform && $0.mvpd == mvpd }),
            case .valid = state(of: [record], for: caller)
        else { return nil }
        do throws(Fault) {
            try PartnerStatusCheck(caller, now: clock.now()).provider(expected: mvpd, demandsExpiry: true)
            return nil
        } catch {
            return error
        }
    }

    private func state(of records: [SessionRecord], for caller: DeviceCaller) -> SessionState {
        SessionState.of(records, claims: DeviceClaims(), visibleIn: caller.catalogue, now: clock.now())
    }

    /// The logins at an MVPD that the device could take over.
    package func loginsOffered(to caller: DeviceCaller, at mvpd: MvpdID) async throws(Fault) -> [SessionRecord] {
        let now = clock.now()
        var offered: [SessionRecord] = []
        for (way, logins) in try await logins(namedBy: caller, now) {
            offered += logins.filter { login in
                login.mvpd == mvpd && !offered.contains { $0.id == login.id }
                    && SharedSession.find(among: [login], for: caller, by: way, isPerClient: true, loggedOutAt: nil, now: now) != nil
            }
        }
        return offered
    }

    /// Logins of whom the call names, by whose word it does.
    private func logins(
        namedBy caller: DeviceCaller, _ now: Timestamp
    ) async throws(Fault) -> [(way: SharedSession.Way, logins: [SessionRecord])] {
        var named: [(way: SharedSession.Way, logins: [SessionRecord])] = []
        if let identity = caller.identity { named.append((.platform, try await store.sessions(of: identity, now: now))) }
        if let identity = caller.serviceIdentity { named.append((.serviceToken, try await store.sessions(of: identity, now: now))) }
        return named.filter { !$0.logins.isEmpty }
    }

    /// The sessions that the device could take over; of each MVPD the one that lasts longest.
    private func offered(to caller: DeviceCaller) async throws(Fault) -> [SessionRecord] {
        let now = clock.now()
        let named = try await logins(namedBy: caller, now)
        guard !named.isEmpty else { return [] }
        let loggedOutAt = try await store.lastLogout(SessionKey(device: caller.device, requestor: caller.requestor), now: now)
        let mvpds = Set(named.flatMap { $0.logins.map(\.mvpd) })
        return mvpds.sorted { $0.text < $1.text }.compactMap { mvpd in
            named.compactMap { way, logins in
                SharedSession.find(
                    among: logins.filter { $0.mvpd == mvpd }, for: caller, by: way, isPerClient: true, loggedOutAt: loggedOutAt, now: now)
            }.max { $0.expiresAt < $1.expiresAt }
        }
    }

    /// The session that a device without one takes over from its platform's user (rest-v1 §4.9).
    private func shared(_ caller: DeviceCaller) async throws(Fault) -> SessionRecord? {
        guard let identity = caller.identity else { return nil }
        let now = clock.now()
        let logins = try await store.sessions(of: identity, now: now)
        guard !logins.isEmpty else { return nil }
        let loggedOutAt = try await store.lastLogout(SessionKey(device: caller.device, requestor: caller.requestor), now: now)
        let session = SharedSession.find(among: logins, for: caller, loggedOutAt: loggedOutAt, now: now)
        if session != nil { metrics.sharedSessions.increment() }
        return session
    }

    /// The session that a sign-in through this code made, if it is still the device's and valid (rest-v1 §3.10).
    /// - Throws: `authentication_session_missing` while nobody has; `invalid_registration_code` and `registration_code_spent` for a code that tells
    ///   this caller nothing (clients §1.14).
    package func session(byCode request: SessionByCodeRequest) async throws(Fault) -> (record: SessionRecord, catalogue: Catalogue) {
        let catalogue = try catalogue.current()
        let client = request.credentials.isEmpty ? nil : try await bearers.client(request.credentials, requestor: request.requestor)
        let requestor = RequestorID(try catalogue.requireRequestor(request.requestor).id)
        let now = clock.now()
        let missing = Fault(.authenticationSessionMissing, "Forbidden")
        let code = try await store.liveRecord(RegistrationCodeText(typed: request.code), now: now - RegistrationRecord.remembrance)
        guard let code, code.requestor == requestor else { throw RegistrationCodes.unknownCode }
        try code.requireTold(.session, to: client?.id, now: now)
        for method in methods { try await method.settle(code) }
        guard let record = try await shown(code, in: catalogue, now) else { throw missing }
        guard case .valid = SessionState.of(record, claims: DeviceClaims(), visibleIn: catalogue, now: now) else { throw missing }
        return (record, catalogue)
    }

    /// The session that the code's maker is told of (clients §1.5).
    /// - Throws: `authentication_session_missing`, `authentication_session_expired`, `invalid_registration_code`, `registration_code_spent`.
    package func session(ofMaker request: SessionByCodeRequest) async throws(Fault) -> (record: SessionRecord, catalogue: Catalogue) {
        let client = try await bearers.client(request.credentials, requestor: request.requestor)
        // Where several installations are one client, only the code's own device made it, if the call says which device that is.
        let (record, _) = try await session(of: request, madeBy: client, demandsDevice: client.isShared && !request.deviceID.isEmpty)
        guard let record else { throw SessionState.nobody }
        let state = SessionState.of(record, claims: DeviceClaims(), visibleIn: client.catalogue, now: clock.now())
        return (try state.requireValid(), client.catalogue)
    }

    /// The session whose token the code's maker is to keep (clients §3).
    /// - Throws: `authentication_session_missing` while nobody has signed in, `authentication_session_expired` when nobody is signed in any more;
    ///   `invalid_registration_code`, `registration_code_spent`.
    package func session(toKeep request: SessionByCodeRequest) async throws(Fault) -> (record: SessionRecord, catalogue: Catalogue) {
        let client = try await bearers.client(request.accessToken, requestor: request.requestor)
        let (record, code) = try await session(of: request, madeBy: client, demandsDevice: client.isShared || request.demandsDevice)
        guard code.isUsed else { throw SessionState.nobody }
        let state = SessionState.of(record, claims: DeviceClaims(), visibleIn: client.catalogue, now: clock.now())
        guard case .valid(let session) = state else { throw Fault(.authenticationSessionExpired, "Nobody is signed in any more.") }
        return (session, client.catalogue)
    }

    /// The session that a sign-in through the code made, while this API shows it for the device. It is then the newest that is valid (rest-v2 §6).
    private func shown(_ code: RegistrationRecord, in catalogue: Catalogue, _ now: Timestamp) async throws(Fault) -> SessionRecord? {
        let records = try await shown(try await store.sessions(SessionKey(device: code.deviceID, requestor: code.requestor)))
        let valid = records.first { record in
            if case .valid = SessionState.of(record, claims: DeviceClaims(), visibleIn: catalogue, now: now) { true } else { false }
        }
        let shown = valid ?? records.first
        return shown?.record == code.id ? shown : nil
    }

    /// - Returns: `nil` for a code without a session.
    private func session(
        of request: SessionByCodeRequest, madeBy client: AuthenticatedClient, demandsDevice: Bool
    ) async throws(Fault) -> (record: SessionRecord?, code: RegistrationRecord) {
        let requestor = RequestorID(try client.catalogue.requireRequestor(request.requestor).id)
        let now = clock.now()
        let code = try await store.liveRecord(RegistrationCodeText(typed: request.code), now: now - RegistrationRecord.remembrance)
        guard let code, code.requestor == requestor, code.isMadeBy(client.id) else { throw RegistrationCodes.unknownCode }
        guard !demandsDevice || DeviceID(request.deviceID) == code.deviceID else { throw RegistrationCodes.unknownCode }
        try code.requireTold(.session, to: client.id, now: now)
        for method in methods { try await method.settle(code) }
        return (try await shown(code, in: client.catalogue, now), code)
    }
}

extension SessionLookup: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.getSession) { request, _ in
            let (record, catalogue) = try await session(anywhere: request.call)
            return record.contract(in: catalogue)
        }
        calls.unary(AuthenticationMethods.getOwnSessionByCode) { request, _ in
            let (record, catalogue) = try await session(ofMaker: request)
            return record.contract(in: catalogue)
        }
        calls.unary(AuthenticationMethods.getSessionByCode) { request, _ in
            let (record, catalogue) = try await session(byCode: request)
            return record.contract(in: catalogue)
        }
    }
}
