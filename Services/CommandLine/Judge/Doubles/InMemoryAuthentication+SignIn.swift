public import ContractRuntime
public import Contracts
internal import Faults

/// Sign-in and sign-out. There is no MVPD: a browser that is sent to one comes back at once, and its person is signed in.
extension InMemoryAuthentication: Authentication {
    public func startSignIn(_ request: StartSignInRequest, context: CallContext) async throws -> SignInStart {
        try requireWorking()
        let requestor = try config.catalogue.requireRequestor(request.requestor)
        let code = try liveCode(request.registrationCode, requestor: requestor.id)
        guard !code.record.used else { throw Fault(.registrationCodeSpent, "The registration code is not known or has expired.") }
        let mvpd = try config.catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd).mvpd
        if case .tempPass(let terms) = mvpd.signIn {
            finish(code.record, mvpd: mvpd.id, kind: .tempPass, lifetime: UInt64(terms.ttlSeconds) * 1000)
            return SignInStart(url: request.redirectURL)
        }
        let number = numbers.next()
        let state = DerivedIdentity.digest("state", "\(number)")
        let pending = PendingSignIn(
            code: code.record.code, requestor: requestor.id, mvpd: mvpd.id, redirectURL: request.redirectURL,
            browserSecret: DerivedIdentity.digest("browser", "\(number)"))
        signIns[state] = pending
        return SignInStart(
            url: "\(behaviour.publicOrigin)/adobe-services/oauth2?state=\(state)&code=double", browserSecret: pending.browserSecret,
            expiresInSeconds: 600)
    }

    public func completeSamlSignIn(_ request: CompleteSamlSignInRequest, context: CallContext) async throws -> SignInOutcome {
        try requireWorking()
        return complete(request.relayState, secret: request.browserSecret, isDeclined: request.samlResponse.isEmpty, context)
    }

    public func completeOAuthSignIn(_ request: CompleteOAuthSignInRequest, context: CallContext) async throws -> SignInOutcome {
        try requireWorking()
        return complete(request.state, secret: request.browserSecret, isDeclined: !request.error.isEmpty, context)
    }

    private func complete(_ state: String, secret: String, isDeclined: Bool, _ context: CallContext) -> SignInOutcome {
        let trace = "\(context.trace.traceID)"
        let pending = signIns.change(state) { value -> PendingSignIn? in
            defer { value = nil }
            return value
        }
        guard let pending, pending.browserSecret == secret, let code = codes[pending.code] else {
            return SignInOutcome(result: .rejected, traceID: trace)
        }
        if isDeclined { return SignInOutcome(result: .declined, redirectURL: pending.redirectURL, traceID: trace) }
        finish(code.record, mvpd: pending.mvpd, kind: .regular)
        return SignInOutcome(result: .signedIn, redirectURL: pending.redirectURL, traceID: trace)
    }

    private func finish(_ code: RegistrationCode, mvpd: String, kind: SessionKind, lifetime: UInt64 = sessionLife) {
        signIn(Place(device: code.deviceID, requestor: code.requestor), mvpd: mvpd, kind: kind, lifetime: lifetime)
        codes.change(code.code) { $0?.record.used = true }
    }

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

    public func logout(_ request: LogoutRequest, context: CallContext) async throws -> LogoutResponse {
        let call = request.call ?? DeviceCall()
        try requireBearer(call.accessToken)
        guard !call.deviceID.isEmpty else { throw Fault(.invalidDeviceID, "Required 'deviceId' is not present") }
        if !call.requestor.isEmpty { _ = try config.catalogue.requireRequestor(call.requestor) }
        let requestors = call.requestor.isEmpty ? application(call.accessToken, requestor: "").requestorIDs : [call.requestor]
        let ended = requestors.count { requestor in
            standings.change(Place(device: call.deviceID, requestor: requestor)) { standing in
                let wasSignedIn =
                    switch standing {
                    case .signedIn: true
                    case nil: behaviour.signedIn == .everyDevice
                    case .signedOut, .refused: false
                    }
                standing = .signedOut
                return wasSignedIn
            }
        }
        return LogoutResponse(ended: UInt32(clamping: ended))
    }

    public func visitLogout(_ request: VisitLogoutRequest, context: CallContext) async throws -> LogoutStep {
        LogoutStep(result: .done, traceID: "\(context.trace.traceID)")
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
            data: [MetadataEntry(key: "userID", value: .text(subject.session?.userID ?? ""))])
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
        return signIn(Place(device: call.deviceID, requestor: requestor.id), mvpd: request.mvpd, kind: .platform, call: call).session ?? Session()
    }

    public func startFreePreview(_ request: StartFreePreviewRequest, context: CallContext) async throws -> Session {
        let (call, requestor) = try requireDevice(request.call)
        let mvpd = try config.catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd).mvpd
        guard case .tempPass(let terms) = mvpd.signIn else { throw Fault(.invalidRequest, "The MVPD is no TempPass.") }
        _ = trials.next()
        let place = Place(device: call.deviceID, requestor: requestor.id)
        return signIn(place, mvpd: mvpd.id, kind: .tempPass, call: call, lifetime: UInt64(terms.ttlSeconds) * 1000).session ?? Session()
    }

    public func resetTempPass(_ request: ResetTempPassRequest, context: CallContext) async throws -> ResetTempPassResponse {
        try requireWorking()
        _ = try config.catalogue.requireIntegration(requestor: request.requestor, mvpd: request.mvpd)
        return ResetTempPassResponse(trials: 0)
    }

    public func getServiceProviderMetadata(
        _ request: ServiceProviderMetadataRequest, context: CallContext
    ) async throws -> ServiceProviderMetadata {
        if !request.requestor.isEmpty { _ = try config.catalogue.requireRequestor(request.requestor) }
        return ServiceProviderMetadata(
            document: #"<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="\#(behaviour.publicOrigin)/double"/>"#)
    }
}
