internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults

/// Finds what REST v2 calls profiles: sessions of the caller's own client, and what stands for one (rest-v2 §2.6 to §2.8).
struct ProfileLookup: Sendable {
    /// What stands for a session while a rule holds says that it lasts for this long (rest-v2 D18).
    private static let degradedLifetime: Duration = .seconds(60)

    let bearers: BearerCheck
    let sessions: SessionLookup
    let store: SqlAuthenticationStore
    let metadata: UserMetadataAnswer
    let scrambler: UserIDScrambler
    let clock: any WallClock

    // MARK: By device

    /// - Throws: As `FindProfiles`.
    func find(_ request: FindProfilesRequest) async throws(Fault) -> Profiles {
        let caller = try await bearers.device(request.call)
        guard !request.mvpd.isEmpty else { return try await profiles(try await sessions.profiles(of: caller), in: caller.catalogue) }
        let parties = try Self.parties(request.mvpd, ProfileOwner(caller))
        if case .tempPass = parties.mvpd.signIn { return Profiles(profiles: [try await temporary(request, caller, parties.mvpd)]) }
        if let session = try await sessions.profile(of: caller, at: MvpdID(parties.mvpd.id)) {
            return try await profiles([session], in: caller.catalogue)
        }
        guard let session = degraded(DeviceAtHand(caller), parties.mvpd, in: caller.catalogue) else { return Profiles() }
        return try await profiles([session], in: caller.catalogue)
    }

    /// MVPD and integration, checked in this order (rest-v2 §1.5).
    /// - Throws: `invalid_mvpd`, `unknown_integration`.
    static func parties(_ mvpd: String, _ owner: ProfileOwner) throws(Fault) -> (integration: Integration, mvpd: Mvpd) {
        guard owner.catalogue.mvpd(mvpd) != nil else { throw Fault(.invalidMvpd, "The MVPD is missing or not known.") }
        return try owner.catalogue.requireIntegration(requestor: owner.key.requestor.text, mvpd: mvpd, platform: owner.platform)
    }

    // MARK: By code

    /// - Throws: As `FindProfilesByCode`.
    func find(byCode request: SessionByCodeRequest) async throws(Fault) -> Profiles {
        let client = try await bearers.client(request.credentials, requestor: request.requestor)
        let requestor = RequestorID(try client.catalogue.requireRequestor(request.requestor).id)
        let now = clock.now()
        let code = try await store.keptRecord(RegistrationCodeText(typed: request.code), now: now - RegistrationRecord.remembrance)
        guard let code, code.requestor == requestor else { throw RegistrationCodes.unknownCode }
        let isMaker = code.isMadeBy(client.id) && (!client.isShared || DeviceID(request.deviceID) == code.deviceID)
        guard code.isUsed, isMaker else {
            try code.requireTold(.session, to: isMaker ? client.id : nil, now: now)
            // A later login of the device, through another code, is nothing to who has seen this one.
            guard code.isUsed, let session = try await session(madeBy: code, in: client.catalogue),
                session.record == code.id || session.kind == .degraded
            else { return Profiles() }
            return Profiles(profiles: [try await glimpse(session, in: client.catalogue)])
        }
        guard let session = try await session(madeBy: code, in: client.catalogue) else {
            // Over is another thing than ended.
            guard now < code.keptUntil else { throw RegistrationCodes.spentCode }
            return Profiles()
        }
        return try await profiles([session], in: client.catalogue)
    }

    /// The answer for anybody who has seen the code: who has signed in, and nothing else.
    private func glimpse(_ session: SessionRecord, in catalogue: Catalogue) async throws(Fault) -> Profile {
        var told = try await metadata.metadata(of: session, in: catalogue)
        told.data.removeAll { $0.key != "userID" }
        told.encrypted.removeAll { $0 != "userID" }
        told.unsealed.removeAll { $0 != "userID" }
        return Profile(session: session.contract(in: catalogue), metadata: told)
    }

    /// The session that the sign-in through the code made, or a later one of the same client's device at the MVPD.
    private func session(madeBy code: RegistrationRecord, in catalogue: Catalogue) async throws(Fault) -> SessionRecord? {
        let owner = ProfileOwner(code, in: catalogue)
        let own = try await store.sessions(owner.key).filter { $0.clientID == owner.client }
        let made = own.first { $0.record == code.id } ?? own.first { !code.mvpd.isEmpty && $0.mvpd.text == code.mvpd }
        if made?.kind == .degraded, let mvpd = catalogue.mvpd(made?.mvpd.text ?? "") { return degraded(DeviceAtHand(code), mvpd, in: catalogue) }
        guard case .valid(let session) = SessionState.of(made, claims: DeviceClaims(), visibleIn: catalogue, now: clock.now()) else { return nil }
        return session
    }

    // MARK: For decisions

    /// The subject of a decision about the caller at an MVPD.
    /// - Returns: Beside it the session; `nil` where something else stands for one.
    /// - Throws: As `Sessions.FindSession` for a call of v2.
    func subject(_ request: SessionRequest) async throws(Fault) -> (subject: SessionSubject, record: SessionRecord?) {
        let caller = try await bearers.device(request.call)
        let parties = try Self.parties(request.mvpd, ProfileOwner(caller))
        if case .tempPass = parties.mvpd.signIn { return (try await onTrial(request, caller, parties.mvpd), nil) }
        let mvpd = MvpdID(parties.mvpd.id)
        let state = try await sessions.state(of: caller, at: mvpd)
        if let fault = try await sessions.partnerFault(of: caller, at: mvpd) { throw fault }
        if case .valid(let session) = state { return (session.subjectContract(in: caller.catalogue), session) }
        guard let session = excused(DeviceAtHand(caller), parties.mvpd, in: caller.catalogue) else {
            let session = try state.requireValid()
            return (session.subjectContract(in: caller.catalogue), session)
        }
        var subject = session.subjectContract(in: caller.catalogue)
        subject.standsIn = true
        return (subject, nil)
    }

    private func onTrial(_ request: SessionRequest, _ caller: DeviceCaller, _ mvpd: Mvpd) async throws(Fault) -> SessionSubject {
        let standing = try await standing(caller, mvpd, identity: request.identity, requiresUser: false)
        var subject = session(DeviceAtHand(caller), on: standing, at: mvpd).subjectContract(in: caller.catalogue)
        subject.standsIn = true
        subject.trial = standing.state
        return subject
    }

    // MARK: What stands for a session

    /// Returns why nobody has to sign in at an MVPD, beside a session.
    func reason(_ mvpd: Mvpd, _ owner: ProfileOwner) -> SignInReason? {
        if case .tempPass = mvpd.signIn { return .temporary }
        return owner.isLetIn(at: mvpd, now: clock.now()) ? .degraded : nil
    }

    /// While an AuthN-all rule holds (rest-v1 §6.1).
    func degraded(_ device: DeviceAtHand, _ mvpd: Mvpd, in catalogue: Catalogue) -> SessionRecord? {
        let rule = catalogue.degradation(
            requestor: device.key.requestor.text, mvpd: mvpd.id, platform: device.information.platform, resource: nil, now: clock.now())
        return rule.map { degraded(device, mvpd, by: $0) }
    }

    /// While a rule permits anything at all: which resources, the service that decides finds out.
    private func excused(_ device: DeviceAtHand, _ mvpd: Mvpd, in catalogue: Catalogue) -> SessionRecord? {
        let now = clock.now()
        let rule = catalogue.configuration.degradationRules.first { rule in
            rule.requestorID == device.key.requestor.text && rule.mvpdID == mvpd.id && rule.isActive(at: now)
        }
        return rule.map { degraded(device, mvpd, by: $0) }
    }

    private func degraded(_ device: DeviceAtHand, _ mvpd: Mvpd, by rule: DegradationRule) -> SessionRecord {
        let now = clock.now()
        let end = min(Timestamp(milliseconds: Int64(clamping: rule.endsAtMilliseconds)), now + Self.degradedLifetime)
        return device.session(
            id: Self.id("degraded", device, mvpd), mvpd: MvpdID(mvpd.id), userID: scrambler.degraded(device.key.device), createdAt: now,
            expiresAt: end, origin: SessionOrigin(kind: .degraded, authenticatedAt: now, rule: DegradationRuleID(rule.id)))
    }

    private func temporary(_ request: FindProfilesRequest, _ caller: DeviceCaller, _ mvpd: Mvpd) async throws(Fault) -> Profile {
        let standing = try await standing(caller, mvpd, identity: request.identity, requiresUser: true)
        try standing.requireLeft()
        let session = session(DeviceAtHand(caller), on: standing, at: mvpd)
        let told = try await metadata.metadata(of: session, trial: standing.facts, in: caller.catalogue)
        return Profile(session: session.contract(in: caller.catalogue), metadata: told)
    }

    /// - Parameter requiresUser: False where the device alone may find a promotional trial (rest-v2 §2.10).
    /// - Throws: `invalid_temporary_access_configuration`; `invalid_temporary_access_identity` where a user is required.
    private func standing(_ caller: DeviceCaller, _ mvpd: Mvpd, identity: String, requiresUser: Bool) async throws(Fault) -> TrialStanding {
        let terms = try TrialTerms(configured: mvpd)
        let user = requiresUser ? try terms.user(inIdentity: identity) : try? terms.user(inIdentity: identity)
        let holder = TrialHolder(
            key: SessionKey(device: caller.device, requestor: caller.requestor), mvpd: MvpdID(mvpd.id), user: user)
        return TrialStanding(trial: try await store.trial(of: holder), terms: terms, now: clock.now())
    }

    private func session(_ device: DeviceAtHand, on standing: TrialStanding, at mvpd: Mvpd) -> SessionRecord {
        device.session(
            id: Self.id("temppass", device, mvpd), mvpd: MvpdID(mvpd.id), userID: scrambler.tempPass(device.key.device),
            createdAt: standing.startedAt, expiresAt: standing.expiresAt,
            origin: SessionOrigin(kind: .tempPass, authenticatedAt: standing.startedAt, trial: standing.trial?.id))
    }

    /// The same each time, so that permits which hang on it last.
    private static func id(_ kind: String, _ device: DeviceAtHand, _ mvpd: Mvpd) -> SessionID {
        let parts = [device.key.device.text, device.key.requestor.text, mvpd.id].map { Array($0.utf8) }
        return SessionID("\(kind)-" + Hex.encode(SHA256.hash(Array(parts.joined(separator: [0]))).prefix(16)))
    }

    func profiles(_ sessions: [SessionRecord], in catalogue: Catalogue) async throws(Fault) -> Profiles {
        var profiles: [Profile] = []
        for session in sessions {
            profiles.append(
                Profile(session: session.contract(in: catalogue), metadata: try await metadata.metadata(of: session, in: catalogue)))
        }
        return Profiles(profiles: profiles)
    }
}

extension ProfileLookup: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.findProfiles) { request, _ in try await find(request) }
        calls.unary(AuthenticationMethods.findProfilesByCode) { request, _ in try await find(byCode: request) }
    }
}

/// The owner of the profiles that REST v2 shows: a client, on a device, at a requestor (rest-v2 §4).
struct ProfileOwner: Sendable {
    let client: ClientID
    let key: SessionKey
    let catalogue: Catalogue
    let platform: Platform

    init(_ caller: DeviceCaller) {
        client = caller.client.id
        key = SessionKey(device: caller.device, requestor: caller.requestor)
        catalogue = caller.catalogue
        platform = caller.information.platform
    }

    init(_ record: RegistrationRecord, in catalogue: Catalogue) {
        client = record.clientID
        key = SessionKey(device: record.deviceID, requestor: record.requestor)
        self.catalogue = catalogue
        platform = record.device.platform
    }

    /// True when a rule lets everybody in at the MVPD now (rest-v1 §6.1).
    func isLetIn(at mvpd: Mvpd, now: Timestamp) -> Bool {
        catalogue.degradation(requestor: key.requestor.text, mvpd: mvpd.id, platform: platform, resource: nil, now: now) != nil
    }
}
