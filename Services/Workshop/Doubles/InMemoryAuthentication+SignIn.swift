internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults

/// Sign-in and sign-out. There is no MVPD: a browser that is sent to one comes back at once, and its person is signed in.
extension InMemoryAuthentication: Authentication {
    public func startSignIn(_ request: StartSignInRequest, context: CallContext) async throws -> SignInStart {
        try requireWorking()
        let requestor = try config.catalogue.requireRequestor(request.requestor)
        let code = try liveCode(request.registrationCode, requestor: requestor.id)
        guard !code.record.used else { throw Self.spentCode }
        let (name, redirectURL) = try request.api == .v2 ? Self.planned(code.record) : (request.mvpd, request.redirectURL)
        let mvpd = try config.catalogue.requireIntegration(requestor: requestor.id, mvpd: name).mvpd
        if rule(requestor.id, mvpd.id, code.record.device) != nil {
            finish(code, mvpd: mvpd.id, kind: .degraded)
            return SignInStart(url: redirectURL)
        }
        if case .tempPass(let terms) = mvpd.signIn {
            finish(code, mvpd: mvpd.id, kind: .tempPass, lifetime: UInt64(terms.ttlSeconds) * 1000)
            return SignInStart(url: redirectURL)
        }
        let number = numbers.next()
        let state = DerivedIdentity.digest("state", "\(number)")
        let pending = PendingSignIn(
            code: code.record.code, requestor: requestor.id, mvpd: mvpd.id, redirectURL: redirectURL,
            browserSecret: isHandedOver(request, code) ? "" : DerivedIdentity.digest("browser", "\(number)"))
        signIns[state] = pending
        return SignInStart(
            url: "\(behaviour.publicOrigin)/adobe-services/oauth2?state=\(state)&code=double", browserSecret: pending.browserSecret,
            expiresInSeconds: 600)
    }

    public func completeSamlSignIn(_ request: CompleteSamlSignInRequest, context: CallContext) async throws -> SignInOutcome {
        try requireWorking()
        return complete(
            request.relayState, secret: request.browserSecret, isEmbedded: request.isEmbedded, isDeclined: request.samlResponse.isEmpty, context)
    }

    public func openTestSignIn(_ request: OpenTestSignInRequest, context: CallContext) async throws -> SignInStart {
        throw Fault(.notFound, "There is no such ticket.")
    }

    public func listBridgedProviders(_ request: ListBridgedProvidersRequest, context: CallContext) async throws -> BridgedProviders {
        throw Fault(.notFound, "The requestor has no upstream.")
    }

    public func returnFromBridge(_ request: ReturnFromBridgeRequest, context: CallContext) async throws -> SignInOutcome {
        SignInOutcome(result: .rejected)
    }

    public func completeOAuthSignIn(_ request: CompleteOAuthSignInRequest, context: CallContext) async throws -> SignInOutcome {
        try requireWorking()
        return complete(
            request.state, secret: request.browserSecret, isEmbedded: request.isEmbedded, isDeclined: !request.error.isEmpty, context)
    }

    /// The code's maker itself begins the sign-in: any agent brings the answer.
    private func isHandedOver(_ request: StartSignInRequest, _ code: Code) -> Bool {
        !request.accessToken.isEmpty && (try? requireBearer(request.accessToken)) != nil && clientID(request.accessToken) == code.clientID
    }

    private func complete(_ state: String, secret: String, isEmbedded: Bool, isDeclined: Bool, _ context: CallContext) -> SignInOutcome {
        let trace = "\(context.trace.traceID)"
        let pending = signIns.change(state) { value -> PendingSignIn? in
            defer { value = nil }
            return value
        }
        guard let pending, pending.browserSecret.isEmpty ? !isEmbedded : pending.browserSecret == secret, let code = codes[pending.code],
            !code.record.used, isOfThisLife(code.record)
        else {
            return SignInOutcome(result: .rejected, traceID: trace)
        }
        if isDeclined { return SignInOutcome(result: .declined, redirectURL: pending.redirectURL, traceID: trace) }
        finish(code, mvpd: pending.mvpd, kind: .regular, lifetime: lifetime(pending))
        return SignInOutcome(result: .signedIn, redirectURL: pending.redirectURL, traceID: trace)
    }

    /// The lifetime of a session that the sign-in makes, in milliseconds.
    private func lifetime(_ pending: PendingSignIn) -> UInt64 {
        guard let parties = try? config.catalogue.requireIntegration(requestor: pending.requestor, mvpd: pending.mvpd) else {
            return Self.sessionLife
        }
        return UInt64(Catalogue.authnLifetime(parties.integration, parties.mvpd).components.seconds) * 1000
    }

    /// MVPD and address that were gathered for the code.
    private static func planned(_ code: RegistrationCode) throws(Fault) -> (String, String) {
        guard !code.mvpd.isEmpty, !code.domainName.isEmpty, !code.redirectURL.isEmpty else {
            throw Fault(.invalidRequest, "The sign-in lacks its MVPD, its domain or its redirect URL.")
        }
        return (code.mvpd, code.redirectURL)
    }

    private func finish(_ code: Code, mvpd: String, kind: SessionKind, lifetime: UInt64 = sessionLife) {
        let record = code.record
        let owner = Owner(client: code.clientID, device: record.device, code: record.id, identity: code.identity)
        let place = Place(device: record.deviceID, requestor: record.requestor)
        signIn(place, mvpd: mvpd, kind: kind, owner, user: Self.user(kind, record.deviceID), lifetime: lifetime)
        let moment = now
        codes.change(record.code) { code in
            code?.record.used = true
            code?.usedAt = moment
        }
    }

    static let spentCode = Fault(.registrationCodeSpent, "The registration code is not known or has expired.")

    public func getSession(_ request: SessionRequest, context: CallContext) async throws -> Session {
        try subject(of: request.call).session ?? Session()
    }

    public func getSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Session {
        try subject(byCode: request).session ?? Session()
    }

    public func getOwnSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Session {
        try requireBearer(request.accessToken)
        guard codes[request.code]?.clientID == clientID(request.accessToken) else { throw Fault(.invalidRegistrationCode, "The code is not known.") }
        return try subject(byCode: request).session ?? Session()
    }

    func subject(byCode request: SessionByCodeRequest) throws(Fault) -> SessionSubject {
        try requireWorking()
        if !request.accessToken.isEmpty { try requireBearer(request.accessToken) }
        _ = try config.catalogue.requireRequestor(request.requestor)
        let code = try liveCode(request.code, requestor: request.requestor).record
        guard code.used || behaviour.signedIn == .everyDevice else {
            throw Fault(.authenticationSessionMissing, "Forbidden")
        }
        return try subject(at: Place(device: code.deviceID, requestor: code.requestor), call: nil)
    }

    /// The client of a call, for a session that it gets itself.
    func owner(of call: DeviceCall) -> Owner { Owner(client: clientID(call.accessToken), device: call.device, identity: identity(of: call)) }

    public func logout(_ request: LogoutRequest, context: CallContext) async throws -> LogoutResponse {
        let call = request.call ?? DeviceCall()
        try requireBearer(call.accessToken)
        guard !call.deviceID.isEmpty else { throw Fault(.invalidDeviceID, "Required 'deviceId' is not present") }
        if !call.requestor.isEmpty { _ = try config.catalogue.requireRequestor(call.requestor) }
        let requestors = call.requestor.isEmpty ? application(call.accessToken, requestor: "").requestorIDs : [call.requestor]
        let ended = requestors.reduce(0) { $0 + end(Place(device: call.deviceID, requestor: $1)) { _ in true }.count }
        return LogoutResponse(ended: UInt32(clamping: ended))
    }

    /// Ends those sessions of a device; others go on.
    func end(_ place: Place, where isEnded: (Held) -> Bool) -> [Held] {
        standings.change(place) { standing in
            let held: [Held]
            switch standing {
            case .signedIn(let all): held = all
            case nil: held = untold(place)
            case .signedOut, .refused: return []
            }
            let (ended, left) = (held.filter { isEnded($0) && isOfThisLife($0.subject) }, held.filter { !isEnded($0) || !isOfThisLife($0.subject) })
            standing = left.isEmpty ? .signedOut : .signedIn(left)
            return ended
        }
    }

    /// A browser that is sent to an MVPD comes back at once.
    public func visitLogout(_ request: VisitLogoutRequest, context: CallContext) async throws -> LogoutStep {
        let trace = "\(context.trace.traceID)"
        return visits[request.handle].map { LogoutStep(result: .goesOn, url: $0, traceID: trace) } ?? LogoutStep(result: .done, traceID: trace)
    }

    public func receiveSamlLogout(_ request: SamlLogoutMessage, context: CallContext) async throws -> LogoutStep {
        LogoutStep(result: .done, traceID: "\(context.trace.traceID)")
    }

    public func getUserMetadata(_ request: SessionRequest, context: CallContext) async throws -> UserMetadata {
        let subject = try subject(of: request.call)
        return metadata(subject)
    }

    func metadata(_ subject: SessionSubject) -> UserMetadata {
        UserMetadata(
            updatedAtSeconds: (subject.session?.createdAtMilliseconds ?? startedAt) / 1000,
            data: [MetadataEntry(key: "userID", value: .text(subject.session?.userID ?? ""))]
                + subject.attributes.filter { $0.key != "userID" }.map { attribute in
                    let values = attribute.values
                    return MetadataEntry(key: attribute.key, value: values.count == 1 ? .text(values[0]) : .list(TextList(values: values)))
                })
    }

    public func createProfileRequest(_ request: CreateProfileRequestRequest, context: CallContext) async throws -> ProfileRequest {
        try requireBearer(request.accessToken)
        let requestor = try config.catalogue.requireRequestor(request.requestor)
        _ = try config.catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd)
        return ProfileRequest(
            verificationToken: "ZG91Ymxl" + DerivedIdentity.digest("profile", request.mvpd, "\(numbers.next())"),
            expiresAtMilliseconds: now + 600_000)
    }

    public func exchangePlatformProfile(_ request: ExchangePlatformProfileRequest, context: CallContext) async throws -> Session {
        let (call, requestor) = try requireDevice(request.call)
        guard !request.samlResponse.isEmpty else { throw Fault(.invalidRequest, "Required 'SAMLResponse' is not present") }
        _ = try config.catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd)
        return signIn(Place(device: call.deviceID, requestor: requestor.id), mvpd: request.mvpd, kind: .platform, owner(of: call)).session
            ?? Session()
    }

    public func startFreePreview(_ request: StartFreePreviewRequest, context: CallContext) async throws -> Session {
        let (call, requestor) = try requireDevice(request.call)
        let mvpd = try config.catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd).mvpd
        guard case .tempPass(let terms) = mvpd.signIn else { throw Fault(.invalidRequest, "The MVPD is no TempPass.") }
        let place = Place(device: call.deviceID, requestor: requestor.id)
        let user = Self.user(.tempPass, call.deviceID)
        return signIn(place, mvpd: mvpd.id, kind: .tempPass, owner(of: call), user: user, lifetime: UInt64(terms.ttlSeconds) * 1000).session
            ?? Session()
    }

    public func getServiceProviderMetadata(
        _ request: ServiceProviderMetadataRequest, context: CallContext
    ) async throws -> ServiceProviderMetadata {
        if !request.requestor.isEmpty { _ = try config.catalogue.requireRequestor(request.requestor) }
        return ServiceProviderMetadata(
            document: #"<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="\#(behaviour.publicOrigin)/double"/>"#)
    }
}
