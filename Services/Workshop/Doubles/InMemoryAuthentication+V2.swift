internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults

/// The profiles of REST v2: sessions of the caller's own client, and the stand-ins for one.
extension InMemoryAuthentication {
    /// What stands for a session while a rule holds says that it lasts for this long, in milliseconds.
    private static let degradedLife: UInt64 = 60_000
    /// A code tells others of its session for this long after its use, in milliseconds.
    private static let told: UInt64 = 600_000

    public func findProfiles(_ request: FindProfilesRequest, context: CallContext) async throws -> Profiles {
        let (call, _) = try requireDevice(request.call)
        guard !request.mvpd.isEmpty else { return Profiles(profiles: try profiles(of: call).map(profile)) }
        let mvpd = try parties(request.mvpd, call).mvpd
        if case .tempPass = mvpd.signIn { return Profiles(profiles: [try trialProfile(call, mvpd, request.identity)]) }
        if let subject = try profiles(of: call).first(where: { $0.session?.mvpd == mvpd.id }) { return Profiles(profiles: [profile(subject)]) }
        return Profiles(profiles: degraded(call, mvpd).map { [profile($0)] } ?? [])
    }

    private func trialProfile(_ call: DeviceCall, _ mvpd: Mvpd, _ identity: String) throws(Fault) -> Profile {
        let (subject, facts) = try onTrial(call, mvpd, identity: identity, requiresUser: true)
        if subject.trial?.isOver == true { throw Self.timeIsUp }
        if subject.trial?.isUsedUp == true { throw Self.resourcesAreUp }
        var told = metadata(subject)
        told.data += facts
        return Profile(session: subject.session, metadata: told)
    }

    public func findProfilesByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Profiles {
        try requireBearer(request.accessToken)
        let requestor = try requireCovered(request.requestor, by: request.accessToken)
        guard let code = codes[request.code.uppercased()], code.record.requestor == requestor.id, isOfThisLife(code.record)
        else { throw Self.unknownCode }
        guard code.record.used else {
            _ = try liveCode(request.code, requestor: requestor.id)
            return Profiles()
        }
        let isMaker = clientID(request.accessToken) == code.clientID
        guard isMaker || now < code.usedAt + Self.told else { throw Self.spentCode }
        let place = Place(device: code.record.deviceID, requestor: requestor.id)
        guard let made = try held(at: place).first(where: { $0.code == code.record.id })?.subject, isValid(made) else { return Profiles() }
        var profile = profile(made)
        if !isMaker { profile.metadata?.data.removeAll { $0.key != "userID" } }
        return Profiles(profiles: [profile])
    }

    public func endProfile(_ request: EndProfileRequest, context: CallContext) async throws -> EndedProfile {
        let (call, requestor) = try requireDevice(request.call)
        guard config.catalogue.mvpd(request.mvpd) != nil else { throw Self.unknownMvpd }
        guard isAccepted(request.redirectURL, requestor) else { throw Self.badAddress }
        let mvpd = try parties(request.mvpd, call).mvpd
        if case .tempPass = mvpd.signIn { return EndedProfile(end: .complete) }
        let client = clientID(call.accessToken)
        let own = end(Place(device: call.deviceID, requestor: requestor.id)) { held in
            held.subject.session?.mvpd == mvpd.id && Self.isOf(held, client) && Self.isProfile(held.subject)
        }
        let ended = (own + endTakenOver(by: call, at: mvpd.id)).filter { isValid($0.subject) }
        guard !ended.isEmpty else { return EndedProfile(end: rule(requestor.id, mvpd.id, call.device) == nil ? .none : .complete) }
        if ended.contains(where: { $0.subject.session?.kind == .platform }) { return EndedProfile(end: .platform) }
        guard Self.hasLogout(mvpd) else { return EndedProfile(end: .complete) }
        let handle = DerivedIdentity.digest("logout", "\(numbers.next())")
        visits[handle] = request.redirectURL
        return EndedProfile(end: .visit, visitURL: "\(behaviour.publicOrigin)/adobe-services/logout?handle=\(handle)")
    }

    private static func hasLogout(_ mvpd: Mvpd) -> Bool {
        switch mvpd.signIn {
        case .saml(let endpoint): !endpoint.logoutURL.isEmpty
        case .oauth(let endpoint): !endpoint.logoutURL.isEmpty
        default: false
        }
    }

    // MARK: What a device has

    /// The profiles of the calling client, and those that it takes over: at most one of each MVPD.
    func profiles(of call: DeviceCall) throws(Fault) -> [SessionSubject] {
        let client = clientID(call.accessToken)
        var subjects = try held(at: Place(device: call.deviceID, requestor: call.requestor)).filter { held in
            Self.isOf(held, client) && Self.isProfile(held.subject) && isValid(held.subject) && isIntegrated(held.subject)
                && isShown(held.subject, to: call)
        }.map(\.subject)
        for taken in takenOver(by: call) where !subjects.contains(where: { $0.session?.mvpd == taken.session?.mvpd }) { subjects.append(taken) }
        return subjects.map { subject in
            var subject = subject
            if subject.clientID.isEmpty { subject.clientID = client }
            return subject
        }
    }

    /// For a decision at one MVPD.
    func subject(at name: String, _ request: SessionRequest) throws(Fault) -> SessionSubject {
        countQuestion()
        let (call, _) = try requireDevice(request.call)
        let mvpd = try parties(name, call).mvpd
        if case .tempPass = mvpd.signIn {
            // The scripted result for the device comes first.
            _ = try held(at: Place(device: call.deviceID, requestor: call.requestor))
            return try onTrial(call, mvpd, identity: request.identity, requiresUser: false).0
        }
        if let subject = try profiles(of: call).first(where: { $0.session?.mvpd == mvpd.id }) { return subject }
        if let fault = try partnerFault(call, mvpd.id) { throw fault }
        if isExcused(call, mvpd.id) { return standIn(.degraded, call, mvpd.id, until: now + Self.degradedLife) }
        let client = clientID(call.accessToken)
        let isOver = try held(at: Place(device: call.deviceID, requestor: call.requestor)).contains { held in
            held.subject.session?.mvpd == mvpd.id && Self.isOf(held, client) && Self.isProfile(held.subject) && !isValid(held.subject)
        }
        throw isOver ? Fault(.authenticationSessionExpired, "Authentication token expired") : Self.nobody
    }

    private func profile(_ subject: SessionSubject) -> Profile { Profile(session: subject.session, metadata: metadata(subject)) }

    /// While an AuthN-all rule holds.
    func degraded(_ call: DeviceCall, _ mvpd: Mvpd) -> SessionSubject? {
        rule(call.requestor, mvpd.id, call.device).map { rule in
            standIn(.degraded, call, mvpd.id, until: min(rule.endsAtMilliseconds, now + Self.degradedLife))
        }
    }

    /// True when a rule permits or denies anything at all.
    private func isExcused(_ call: DeviceCall, _ mvpd: String) -> Bool {
        config.configuration.degradationRules.contains { rule in
            rule.requestorID == call.requestor && rule.mvpdID == mvpd && rule.isActive(at: clock.now())
        }
    }

    /// A session is hidden for as long as its integration is switched off.
    private func isIntegrated(_ subject: SessionSubject) -> Bool {
        let session = subject.session ?? Session()
        return config.catalogue.integration(requestor: session.requestor, mvpd: session.mvpd)?.enabled ?? false
    }

    static func isOf(_ held: Held, _ client: String) -> Bool { held.subject.clientID.isEmpty || held.subject.clientID == client }

    /// True when a person has signed in for it somewhere.
    static func isProfile(_ subject: SessionSubject) -> Bool {
        switch subject.session?.kind {
        case .regular, .platform, .shared, .automatic: true
        default: false
        }
    }

    // MARK: Checks

    /// - Throws: `invalid_mvpd`, `unknown_integration`.
    func parties(_ mvpd: String, _ call: DeviceCall) throws(Fault) -> (integration: Integration, mvpd: Mvpd) {
        guard config.catalogue.mvpd(mvpd) != nil else { throw Self.unknownMvpd }
        return try config.catalogue.requireIntegration(requestor: call.requestor, mvpd: mvpd, platform: call.device?.platform)
    }

    /// At a domain of the requestor, at the gateway's own pages, or an app's.
    func isAccepted(_ address: String, _ requestor: Requestor) -> Bool {
        guard let mark = address.firstRange(of: "://") else { return false }
        let scheme = address[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return scheme == "adobepass" || scheme.hasPrefix("adbe.") }
        let host = address[mark.upperBound...].prefix { !"/?#:".contains($0) }.lowercased()
        return address.hasPrefix(behaviour.publicOrigin + "/") || requestor.domains.contains { host == $0.name || host.hasSuffix("." + $0.name) }
    }

    static let unknownMvpd = Fault(.invalidMvpd, "The MVPD is missing or not known.")
    static let badAddress = Fault(.invalidRedirectURL, "The redirect URL is missing, or not at a domain of the service provider.")
    static let unknownCode = Fault(.invalidRegistrationCode, "The registration code is not known or has expired.")

    // MARK: Service tokens, which this double does not issue

    public func issueServiceToken(_ request: IssueServiceTokenRequest, context: CallContext) async throws -> ServiceToken { throw Self.unknown }

    public func refreshServiceToken(_ request: RefreshServiceTokenRequest, context: CallContext) async throws -> ServiceToken { throw Self.unknown }

    public func createServiceLink(_ request: ServiceTokenCall, context: CallContext) async throws -> ServiceLink { throw Self.unknown }

    public func unlinkServiceDevices(_ request: UnlinkServiceDevicesRequest, context: CallContext) async throws -> UnlinkedServiceDevices {
        throw Self.unknown
    }

    public func listServiceDevices(_ request: ServiceTokenCall, context: CallContext) async throws -> ServiceDevices { throw Self.unknown }

    private static let unknown = Fault(.unimplemented, "The service issues no service tokens.")
}
