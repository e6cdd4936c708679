internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Finds out who calls: `authentication` checks the bearer and knows the device's session, the account is ours.
struct CallerCheck: Sendable {
    let logins: any Logins
    let store: AutoSignInStore
    let clock: any WallClock

    /// The scope of a programmer's own backend (apple §4).
    static let ownerScope = "autosignin:owner"

    /// - Throws: `invalid_request` without a call; the faults of `Logins.identifyCaller`.
    func device(_ call: DeviceCall?, _ context: CallContext) async throws(Fault) -> DeviceCaller {
        guard let call else { throw Fault(.invalidRequest, "Required 'call' is not present.") }
        return try await device(try await identify(IdentifyCallerRequest(call: call), context))
    }

    /// The same for a caller whom `authentication` has identified in another call.
    /// - Throws: Faults of the storage.
    func device(_ identified: IdentifiedCaller) async throws(Fault) -> DeviceCaller {
        let (client, requestor) = (ClientID(identified.clientID), RequestorID(identified.requestor))
        let (programmer, device) = (ProgrammerID(identified.programmerID), DeviceID(identified.deviceID))
        let login = identified.login.flatMap(CallerLogin.init)
        let streaming = try await streamingSession(of: login, device, requestor, client)
        var account = streaming?.account
        if streaming == nil, let login {
            account = try await store.account(of: login.person, programmer: programmer)?.id
            if account == nil { account = try await joinedAccount(login, device, requestor, client) }
        }
        return DeviceCaller(
            client: client, programmer: programmer, requestor: requestor, device: device, deviceLabel: identified.device?.label ?? "Device",
            login: login, streaming: streaming, account: account)
    }

    /// A session by Sign in with Apple may have no authn token; a session of a person at the MVPD has no record here.
    private func streamingSession(
        of login: CallerLogin?, _ device: DeviceID, _ requestor: RequestorID, _ client: ClientID
    ) async throws(Fault) -> StreamingSessionRecord? {
        if let login { return login.kind == .automatic ? try await store.session(login.session) : nil }
        let session = try await store.sessionWithoutTV(device: device, requestor: requestor, client: client)
        return session.flatMap { $0.isLive(clock.now()) ? $0 : nil }
    }

    /// - Throws: As for devices; `insufficient_scope` unless the bearer has the scope of a backend.
    func backend(_ call: BackendCall?, _ context: CallContext) async throws(Fault) -> BackendCaller {
        guard let call else { throw Fault(.invalidRequest, "Required 'call' is not present.") }
        let device = DeviceCall(accessToken: call.accessToken, requestor: call.requestor)
        let identified = try await identify(IdentifyCallerRequest(call: device, scope: Self.ownerScope, isBackend: true), context)
        return BackendCaller(
            client: ClientID(identified.clientID), programmer: ProgrammerID(identified.programmerID),
            requestor: RequestorID(identified.requestor))
    }

    /// - Throws: `authentication_session_missing` when the cookie is unknown or over; faults of the storage.
    func browser(_ secret: WebSessionSecret) async throws(Fault) -> WebCaller {
        let now = clock.now()
        guard let caller = try await store.webSession(secret.digest, now: now) else {
            throw Fault(.authenticationSessionMissing, "The page's session is over.")
        }
        return caller
    }

    /// - Throws: As for each kind of caller; `invalid_request` when there is none.
    func any(_ caller: Caller?, _ context: CallContext) async throws(Fault) -> CheckedCaller {
        switch caller?.who {
        case .device(let call): .device(try await device(call, context))
        case .backend(let call): .backend(try await backend(call, context))
        case .webSession(let secret): .web(try await browser(WebSessionSecret(secret)))
        case nil: throw Fault(.invalidRequest, "Required 'caller' is not present.")
        }
    }

    private func identify(_ request: IdentifyCallerRequest, _ context: CallContext) async throws(Fault) -> IdentifiedCaller {
        do { return try await logins.identifyCaller(request, context: context.child()) } catch { throw .unexpected(error) }
    }
}
