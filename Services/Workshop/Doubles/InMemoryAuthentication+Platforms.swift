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

    /// Whether the platform signs people in at the MVPD here.
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

    /// Why a platform's login that the device has is not shown for a decision.
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

    /// What the calling device takes over from logins of its platform's user elsewhere.
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
