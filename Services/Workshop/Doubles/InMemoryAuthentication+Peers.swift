public import ContractRuntime
public import Contracts
internal import Faults

/// Operations for the authorization service.
extension InMemoryAuthentication: Sessions {
    public func findSession(_ request: SessionRequest, context: CallContext) async throws -> SessionSubject {
        try findSessionNow(request)
    }

    /// The same without waiting for anything.
    func findSessionNow(_ request: SessionRequest) throws(Fault) -> SessionSubject {
        request.call?.api == .v2 ? try subject(at: request.mvpd, request) : try subject(of: request.call)
    }

    /// No session here is bridged, so that nobody decides about one.
    public func findSessionToPlay(_ request: SessionToPlayRequest, context: CallContext) async throws -> SessionToPlay {
        SessionToPlay(subject: try findSessionNow(request.session ?? SessionRequest()))
    }

    public func findSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> SessionSubject {
        try subject(byCode: request)
    }

    public func getUpstreamToken(_ request: UpstreamTokenRequest, context: CallContext) async throws -> UpstreamToken {
        try requireWorking()
        return UpstreamToken(accessToken: DerivedIdentity.digest("upstream", request.upstreamSessionID), expiresAtMilliseconds: now + 300_000)
    }

    /// No session here is bridged.
    public func askUpstream(_ request: AskUpstreamRequest, context: CallContext) async throws -> UpstreamDecisions {
        throw Fault(.notFound, "No session of an upstream has the id.")
    }

    public func updateAttributes(_ request: UpdateAttributesRequest, context: CallContext) async throws -> UpdateAttributesResponse {
        try requireWorking()
        let isChanged = standings.change(Place(device: request.deviceID, requestor: request.requestor)) { standing in
            guard case .signedIn(var held) = standing, let index = held.firstIndex(where: { $0.subject.session?.id == request.sessionID }) else {
                return false
            }
            let before = held[index].subject.attributes
            for attribute in request.attributes {
                held[index].subject.attributes.removeAll { $0.key == attribute.key }
                held[index].subject.attributes.append(attribute)
            }
            standing = .signedIn(held)
            return held[index].subject.attributes != before
        }
        return UpdateAttributesResponse(changed: isChanged)
    }
}

/// Operations for the autosignin service.
extension InMemoryAuthentication: Logins {
    public func identifyCaller(_ request: IdentifyCallerRequest, context: CallContext) async throws -> IdentifiedCaller {
        try identify(request)
    }

    func identify(_ request: IdentifyCallerRequest) throws(Fault) -> IdentifiedCaller {
        let call = request.call ?? DeviceCall()
        try requireBearer(call.accessToken)
        let requestor = try config.catalogue.requireRequestor(call.requestor)
        let application = application(call.accessToken, requestor: requestor.id)
        var caller = IdentifiedCaller(
            clientID: clientID(call.accessToken), applicationID: application.id, programmerID: requestor.programmerID, requestor: requestor.id)
        if request.isBackend { return caller }
        guard !call.deviceID.isEmpty else { throw Fault(.invalidDeviceID, "Required 'deviceId' is not present") }
        caller.deviceID = call.deviceID
        caller.device = call.device
        if let subject = try? subject(of: call), let session = subject.session { caller.login = login(session) }
        return caller
    }

    /// A derived session always counts as new, so that an opt-in that requires a recent sign-in is possible at any time.
    private func login(_ session: Session) -> Login {
        let isDerived = session.createdAtMilliseconds == startedAt
        let integration = config.catalogue.integration(requestor: session.requestor, mvpd: session.mvpd)
        return Login(
            session: session, authenticatedAtMilliseconds: isDerived ? now : session.createdAtMilliseconds,
            allowsAutoSignIn: integration?.autoSignIn ?? false)
    }

    public func startAutomaticSession(_ request: StartAutomaticSessionRequest, context: CallContext) async throws -> AutomaticSession {
        try automaticSession(request)
    }

    func automaticSession(_ request: StartAutomaticSessionRequest) throws(Fault) -> AutomaticSession {
        let (call, requestor) = try requireDevice(request.call)
        let live = request.logins.first { config.catalogue.integration(requestor: requestor.id, mvpd: $0.mvpd)?.enabled == true }
        guard let live else { throw Fault(.subscriptionRequired, "No login serves at the requestor.") }
        let place = Place(device: call.deviceID, requestor: requestor.id)
        let subject = signIn(place, mvpd: live.mvpd, kind: .automatic, owner(of: call), user: live.userID)
        var caller = try identify(IdentifyCallerRequest(call: call))
        caller.login = nil
        return AutomaticSession(session: subject.session, metadata: metadata(subject), caller: caller)
    }

    public func findLiveLogins(_ request: FindLiveLoginsRequest, context: CallContext) async throws -> LiveLogins {
        try requireWorking()
        _ = try config.catalogue.requireRequestor(request.requestor)
        return LiveLogins(
            logins: request.logins.filter { config.catalogue.integration(requestor: request.requestor, mvpd: $0.mvpd)?.enabled == true })
    }

    public func endAutomaticSessions(
        _ request: EndAutomaticSessionsRequest, context: CallContext
    ) async throws -> EndAutomaticSessionsResponse {
        try requireWorking()
        let ids = Set(request.sessionIDs)
        let places = standings.all.keys
        let ended = places.reduce(0) { count, place in
            count + end(place) { $0.subject.session.map { $0.kind == .automatic && ids.contains($0.id) } ?? false }.count
        }
        return EndAutomaticSessionsResponse(ended: UInt32(clamping: ended))
    }
}

/// Operations for operators. The double checks no SAML responses, so it has no reports of sign-ins.
extension InMemoryAuthentication: AuthenticationOperations {
    public func revokeClient(_ request: RevokeClientRequest, context: CallContext) async throws -> RevokeClientResponse {
        let wasKnown = clients.change(request.clientID) { application in
            defer { application = nil }
            return application != nil
        }
        if wasKnown { refuse(bearer: "double-\(request.clientID)", with: Fault(.invalidClient, "The client is revoked.")) }
        return RevokeClientResponse(wasKnown: wasKnown)
    }

    /// The double does not need the secret and does not keep it.
    public func putSecret(_ request: PutSecretRequest, context: CallContext) async throws -> PutSecretResponse {
        try requireWorking()
        let letters = request.reference.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f || byte == 0x2d
        }
        guard (1...128).contains(request.reference.utf8.count), letters else {
            throw Fault(.invalidRequest, "A reference has 1 to 128 letters, digits, '_' and '-'.")
        }
        guard (1...4096).contains(request.secret.utf8.count), request.secret.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw Fault(.invalidRequest, "A secret has 1 to 4096 octets and no controls.")
        }
        let now = UInt64(clamping: clock.now().milliseconds)
        let stored = StoredSecret(reference: request.reference, programmerID: request.programmerID, writtenAtMilliseconds: now)
        return try secrets.change(OctetText(request.reference)) { secret in
            let former = secret
            if let former, former.programmerID != request.programmerID { throw Fault(.notFound, "The reference is another owner's.") }
            secret = stored
            return PutSecretResponse(replaced: former != nil)
        }
    }

    public func listSecrets(_ request: ListSecretsRequest, context: CallContext) async throws -> SecretList {
        try requireWorking()
        return SecretList(secrets: secrets.all.values.sorted { $0.reference < $1.reference })
    }

    public func getSignInReport(_ request: GetSignInReportRequest, context: CallContext) async throws -> SignInReport {
        throw Fault(.notFound, "There is no report of that sign-in.")
    }

    public func listSignInReports(_ request: ListSignInReportsRequest, context: CallContext) async throws -> SignInReports { SignInReports() }

    public func explainResponse(_ request: ExplainResponseRequest, context: CallContext) async throws -> SignInReport {
        throw Fault(.unimplemented, "The double checks no SAML.")
    }

    public func beginTestSignIn(_ request: BeginTestSignInRequest, context: CallContext) async throws -> TestSignIn {
        throw Fault(.unimplemented, "The double checks no SAML.")
    }

    public func listScheduledSignIns(_ request: ListScheduledSignInsRequest, context: CallContext) async throws -> ScheduledSignIns {
        ScheduledSignIns()
    }

    public func findViewerSessions(_ request: FindViewerSessionsRequest, context: CallContext) async throws -> ViewerSessions {
        throw Fault(.unimplemented, "The double looks for nobody.")
    }

    public func exportPerson(_ request: ExportPersonRequest, context: CallContext) async throws -> PersonExport {
        throw Fault(.unimplemented, "The double looks for nobody.")
    }

    public func erasePerson(_ request: ErasePersonRequest, context: CallContext) async throws -> PersonErasure {
        throw Fault(.unimplemented, "The double looks for nobody.")
    }

    public func endViewerSessions(_ request: EndViewerSessionsRequest, context: CallContext) async throws -> EndViewerSessionsResponse {
        throw Fault(.unimplemented, "The double looks for nobody.")
    }

    public func checkUpstream(_ request: CheckUpstreamRequest, context: CallContext) async throws -> UpstreamCheck { throw Self.noUpstream }

    public func readUpstreamList(_ request: ReadUpstreamListRequest, context: CallContext) async throws -> UpstreamList { throw Self.noUpstream }

    public func countReturns(_ request: CountReturnsRequest, context: CallContext) async throws -> ReturnCounts {
        throw Fault(.unimplemented, "The double counts nobody.")
    }

    public func listUpstreamStates(_ request: ListUpstreamStatesRequest, context: CallContext) async throws -> UpstreamStates { UpstreamStates() }

    public func resetUpstreamClient(_ request: ResetUpstreamClientRequest, context: CallContext) async throws -> ResetUpstreamClientResponse {
        throw Self.noUpstream
    }

    private static let noUpstream = Fault(.unimplemented, "The double has no upstream.")
}
