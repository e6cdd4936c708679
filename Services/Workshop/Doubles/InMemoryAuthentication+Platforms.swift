internal import Catalogue
internal import Clocks
public import ContractRuntime
public import Contracts
internal import Faults
internal import Tokens

/// Sign-in by a platform's login (rest-v2 §2.12, §2.13), and logins that are taken over by the platform's identity (§5 I).
extension InMemoryAuthentication {
    public func beginPartnerSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan {
        let (call, requestor) = try requireDevice(request.call)
        let named = try? provider(of: call).mvpd
        if let named, let plan = try excused(call, try parties(named.id, call).mvpd) { return plan }
        var sent = request
        sent.mvpd = named?.id ?? ""
        if !isAccepted(sent.redirectURL, requestor) { sent.redirectURL = "" }
        guard Self.isName(sent.domainName), !sent.redirectURL.isEmpty else { return wait(call, sent, because: .missing) }
        guard let named, (try? requireCurrent(call)) != nil else { return wait(call, sent, because: .partnerStatus) }
        guard signsIn(call, named.id) else { return wait(call, sent, because: .configuration) }
        let asked = CreateProfileRequestRequest(accessToken: call.accessToken, requestor: requestor.id, mvpd: named.id)
        let made = try await createProfileRequest(asked, context: context)
        let fields = named.platforms.first { $0.platform == call.device?.platform }?.requiredMetadataFields ?? []
        return SignInPlan(
            step: .partner, id: DerivedIdentity.uuid("plan", "\(numbers.next())"), mvpd: named.id, verificationToken: made.verificationToken,
            attributeNames: fields.filter { $0 != "NameID" })
    }

    public func exchangePartnerProfile(_ request: ExchangePartnerProfileRequest, context: CallContext) async throws -> Profiles {
        let (call, requestor) = try requireDevice(request.call)
        let named = try provider(of: call).mvpd
        try requireCurrent(call)
        guard !request.samlResponse.isEmpty else {
            throw Fault(Fault.Code(rawValue: "invalid_parameter_saml_response"), "The SAML response is missing.")
        }
        let mvpd = try parties(named.id, call).mvpd
        if let subject = degraded(call, mvpd) { return Profiles(profiles: [Profile(session: subject.session, metadata: metadata(subject))]) }
        guard signsIn(call, mvpd.id) else {
            throw Fault(Fault.Code(rawValue: "invalid_configuration_platform_services"), "The platform signs nobody in at the MVPD here.")
        }
        let subject = signIn(Place(device: call.deviceID, requestor: requestor.id), mvpd: mvpd.id, kind: .platform, owner(of: call))
        return Profiles(profiles: [Profile(session: subject.session, metadata: metadata(subject))])
    }

    /// True when the platform signs people in at the MVPD here.
    private func signsIn(_ call: DeviceCall, _ mvpd: String) -> Bool {
        guard let parties = try? parties(mvpd, call), parties.integration.platformSsoEnabled else { return false }
        let platform = call.device?.platform
        guard platform == .ios || platform == .tvos else { return false }
        return parties.mvpd.platforms.contains { $0.platform == platform && $0.enablePlatformServices && $0.boardingStatus == .supported }
    }

    // MARK: What the platform's framework told the app

    /// In the order of rest-v2 §1.3.
    private func provider(of call: DeviceCall) throws(Fault) -> (mvpd: Mvpd, status: PartnerStatus) {
        let status = call.partnerStatus ?? PartnerStatus()
        switch status.access {
        case .granted: break
        case .absent, .unrecognized: throw Self.fault("permission_access_not_present")
        case .notDetermined: throw Self.fault("permission_access_not_determined")
        case .refused: throw Self.fault("permission_access_not_granted")
        }
        let platform = call.device?.platform ?? .unknown
        let mvpd = config.configuration.mvpds.first { mvpd in
            mvpd.platforms.contains { $0.platformMappingID == status.providerID && (platform == .unknown || $0.platform == platform) }
        }
        guard !status.providerID.isEmpty, let mvpd else { throw Self.fault("provider_id_not_determined") }
        return (mvpd, status)
    }

    /// - Parameters:
    ///   - expected: The MVPD that the call is about.
    ///   - demandsEnd: A login without an end is as good as none.
    private func requireCurrent(_ call: DeviceCall, at expected: String? = nil, demandsEnd: Bool = false) throws(Fault) {
        let (mvpd, status) = try provider(of: call)
        guard expected == nil || expected == mvpd.id else { throw Self.fault("provider_id_mismatch") }
        let end = status.expiresAtMilliseconds
        guard !status.hasUnreadableExpiry, end == 0 ? !demandsEnd : end > now else { throw Self.fault("provider_info_expired") }
    }

    /// A platform's login is shown where the platform still has it.
    func isShown(_ subject: SessionSubject, to call: DeviceCall) -> Bool {
        subject.session?.kind != .platform || (try? requireCurrent(call, at: subject.session?.mvpd)) != nil
    }

    /// Returns why a platform's login that the device has is not shown for a decision.
    func partnerFault(_ call: DeviceCall, _ mvpd: String) throws(Fault) -> Fault? {
        let client = clientID(call.accessToken)
        let hasLogin = try held(at: Place(device: call.deviceID, requestor: call.requestor)).contains { held in
            held.subject.session?.kind == .platform && held.subject.session?.mvpd == mvpd && Self.isOf(held, client) && isValid(held.subject)
        }
        guard call.partnerStatus != nil, hasLogin else { return nil }
        do throws(Fault) {
            try requireCurrent(call, at: mvpd, demandsEnd: true)
            return nil
        } catch {
            return error
        }
    }

    private static func fault(_ name: String) -> Fault {
        Fault(Fault.Code(rawValue: "invalid_header_pfs_\(name)"), "'AP-Partner-Framework-Status' does not serve.")
    }

    // MARK: Who the platform says that its user is

    /// Empty: nobody; a token that does not hold counts as none.
    func identity(of call: DeviceCall) -> String {
        guard !call.subjectToken.isEmpty else { return "" }
        let sets = config.configuration.platformIdentityIssuers.compactMap { issuer in
            (try? JSONWebKeySet(json: issuer.jwks)).map { (issuer.issuer, $0) }
        }
        let verifier = PlatformIdentityVerifier(keys: Dictionary(texts: sets) { first, _ in first })
        guard let claims = try? verifier.verify(call.subjectToken, now: clock.now()) else { return "" }
        return DerivedIdentity.digest("identity", claims.issuer, claims.subject)
    }

    /// The logins of its platform's user elsewhere that the calling device takes over.
    func takenOver(by call: DeviceCall) -> [SessionSubject] {
        logins(of: call).compactMap { held in
            guard var session = held.subject.session, let parties = try? parties(session.mvpd, call), parties.integration.platformSsoEnabled else {
                return nil
            }
            session.id = DerivedIdentity.uuid("shared", session.id, call.deviceID, call.requestor)
            session.requestor = call.requestor
            session.kind = .shared
            var subject = held.subject
            subject.session = session
            (subject.deviceID, subject.device, subject.clientID) = (call.deviceID, call.device, clientID(call.accessToken))
            return subject
        }
    }

    /// Their user logs out (rest-v2 §5 I).
    func endTakenOver(by call: DeviceCall, at mvpd: String) -> [Held] {
        let ids = Set(logins(of: call).compactMap(\.subject.session).filter { $0.mvpd == mvpd }.map(\.id))
        guard !ids.isEmpty else { return [] }
        return (identified[identity(of: call)] ?? []).flatMap { place in end(place) { ids.contains($0.subject.session?.id ?? "") } }
    }

    /// The valid logins of the platform's user that are not the caller's own.
    private func logins(of call: DeviceCall) -> [Held] {
        let identity = identity(of: call)
        guard !identity.isEmpty else { return [] }
        let here = Place(device: call.deviceID, requestor: call.requestor)
        let client = clientID(call.accessToken)
        return (identified[identity] ?? []).flatMap { place in
            ((try? held(at: place)) ?? []).filter { held in
                held.identity == identity && isValid(held.subject) && held.subject.session?.kind == .regular
                    && !(place == here && Self.isOf(held, client))
            }
        }
    }
}

/// Decides whether a person has to sign in, and with which code (rest-v2 §2.2, §2.3).
extension InMemoryAuthentication {
    private static let longestDomain = 253

    public func beginSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan {
        let (call, requestor) = try requireDevice(request.call)
        try requireGood(request.mvpd, request.redirectURL, requestor)
        if !request.mvpd.isEmpty, let plan = try excused(call, try parties(request.mvpd, call).mvpd) { return plan }
        return wait(call, request)
    }

    /// - Returns: `nil` where a person has to sign in.
    func excused(_ call: DeviceCall, _ mvpd: Mvpd) throws(Fault) -> SignInPlan? {
        let session = try profiles(of: call).first { $0.session?.mvpd == mvpd.id }?.session
        let own: SignInReason? = session.map { $0.kind == .shared ? SignInReason.shared : .authenticated }
        return (own ?? standing(call, mvpd)).map { SignInPlan(step: .authorize, reason: $0, id: planID(), mvpd: mvpd.id) }
    }

    /// Returns why nobody has to sign in, beside a session.
    private func standing(_ call: DeviceCall, _ mvpd: Mvpd) -> SignInReason? {
        if case .tempPass = mvpd.signIn { return .temporary }
        return rule(call.requestor, mvpd.id, call.device).map { _ in .degraded }
    }

    /// With a new code.
    func wait(_ call: DeviceCall, _ request: BeginSignInRequest, because reason: SignInReason = .none) -> SignInPlan {
        var record = newCode(call)
        Self.fill(&record, request.mvpd, request.domainName, request.redirectURL)
        let client = clientID(call.accessToken)
        // There before it takes the place of another: whoever takes its own place then finds it.
        codes[record.code] = Code(record: record, clientID: client, identity: identity(of: call))
        let key = DerivedIdentity.digest("plan", client, call.deviceID, call.requestor)
        let former = plans.change(key) { code -> String? in
            defer { code = record.code }
            return code
        }
        if let former { codes.change(former) { if $0?.record.used == false { $0 = nil } } }
        return Self.plan(record, reason)
    }

    public func continueSignIn(_ request: ContinueSignInRequest, context: CallContext) async throws -> SignInPlan {
        try requireBearer(request.accessToken)
        let requestor = try requireCovered(request.requestor, by: request.accessToken)
        let code = try liveCode(request.code, requestor: requestor.id)
        var record = code.record
        // As the code's own device would ask.
        let bearer = code.clientID == Self.anybody ? "any" : "double-\(code.clientID)"
        let call = DeviceCall(accessToken: bearer, requestor: requestor.id, deviceID: record.deviceID, device: record.device, api: .v2)
        if record.used {
            let made = try held(at: Place(device: record.deviceID, requestor: requestor.id)).first { $0.code == record.id }?.subject.session
            record.mvpd = made?.mvpd ?? record.mvpd
            let reason: SignInReason = made?.kind == .degraded ? .degraded : made?.kind == .tempPass ? .temporary : .authenticated
            return Self.plan(record, reason, step: .authorize)
        }
        try requireGood(request.mvpd, request.redirectURL, requestor)
        Self.fill(&record, request.mvpd, request.domainName, request.redirectURL)
        if !record.mvpd.isEmpty, let plan = try excused(call, try parties(record.mvpd, call).mvpd) {
            return Self.plan(record, plan.reason, step: .authorize)
        }
        let filled = record
        let isThere = codes.change(record.code) { code in
            guard code?.record.id == filled.id, code?.record.used == false else { return false }
            code?.record = filled
            return true
        }
        guard isThere else { throw Self.spentCode }
        return Self.plan(record, .none)
    }

    private func planID() -> String { DerivedIdentity.uuid("plan", "\(numbers.next())") }

    private static func plan(_ record: RegistrationCode, _ reason: SignInReason, step: SignInStep? = nil) -> SignInPlan {
        let lacks = (record.mvpd.isEmpty, record.domainName.isEmpty, record.redirectURL.isEmpty)
        let step = step ?? (lacks.0 || lacks.1 || lacks.2 ? .complete : .authenticate)
        let isIncomplete = step == .complete
        var shown = record
        shown.deviceID = ""
        shown.device = nil
        return SignInPlan(
            step: step, reason: reason, lacksMvpd: isIncomplete && lacks.0, lacksDomainName: isIncomplete && lacks.1,
            lacksRedirectURL: isIncomplete && lacks.2, id: record.id, mvpd: record.mvpd, code: shown)
    }

    private static func fill(_ record: inout RegistrationCode, _ mvpd: String, _ domain: String, _ address: String) {
        if !mvpd.isEmpty { record.mvpd = mvpd }
        if isName(domain) { record.domainName = domain }
        if !address.isEmpty { record.redirectURL = address }
    }

    /// A domain decides nothing: any text on one line is one (clients §4.1).
    static func isName(_ text: String) -> Bool {
        let host = (text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]).prefix { !"/?#:".contains($0) }
        return host.contains { $0 != " " } && host.utf8.count <= longestDomain && !text.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }

    private func requireGood(_ mvpd: String, _ address: String, _ requestor: Requestor) throws(Fault) {
        guard mvpd.isEmpty || config.catalogue.mvpd(mvpd) != nil else { throw Self.unknownMvpd }
        guard address.isEmpty || isAccepted(address, requestor) else { throw Self.badAddress }
    }
}
