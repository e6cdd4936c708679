import Clocks
import ContractRuntime
import Contracts
import Doubles
import Faults
import ManualClocks
import Synchronization

/// Stands in for authentication's `Logins`: people on devices, and the sessions made from theirs.
///
/// The bearer names the client; one that begins with `backend-` is a backend's, with the programmer behind that.
final class LoginBook: Logins {
    private struct Seat: Hashable {
        let device: String
        let requestor: String
    }

    private struct Held {
        var login: Login
        let client: String
    }

    private struct State {
        var seats: [Seat: Held] = [:]
        var providers: Set<String> = ["NorthCable"]
        var count = 0
        var calls: [String] = []
        var ended: [String] = []
        var fault: Fault?
        var whileStarting: (@Sendable () async throws -> Void)?
    }

    private let clock: ManualClock
    private let state = Mutex(State())

    init(clock: ManualClock) { self.clock = clock }

    // MARK: What a test says

    @discardableResult
    func signIn(
        _ device: String, user: String = "ada", mvpd: String = "NorthCable", requestor: String = "ACME1", kind: SessionKind = .regular,
        lasting: Duration = .seconds(700 * 86_400), client: String = "tv"
    ) -> String {
        let now = clock.now()
        return state.withLock { state in
            state.count += 1
            let session = Session(
                id: "login-\(state.count)", requestor: requestor, mvpd: mvpd, userID: user, createdAtMilliseconds: UInt64(now.milliseconds),
                expiresAtMilliseconds: UInt64((now + lasting).milliseconds), kind: kind)
            let login = Login(session: session, authenticatedAtMilliseconds: UInt64(now.milliseconds))
            state.seats[Seat(device: device, requestor: requestor)] = Held(login: login, client: client)
            return session.id
        }
    }

    func signOut(_ device: String, requestor: String = "ACME1") {
        state.withLock { $0.seats[Seat(device: device, requestor: requestor)] = nil }
    }

    /// MVPDs with integrations that allow Automatic Sign-In.
    func allow(_ providers: Set<String>) { state.withLock { $0.providers = providers } }

    func fail(with fault: Fault?) { state.withLock { $0.fault = fault } }

    /// Called once, during the creation of the next session.
    func whileStarting(_ body: (@Sendable () async throws -> Void)?) { state.withLock { $0.whileStarting = body } }

    /// Names of the calls so far.
    var calls: [String] { state.withLock { $0.calls } }

    /// Ids of sessions that were ended from outside.
    var ended: [String] { state.withLock { $0.ended } }

    /// Ids of the sessions that were made for devices, and live.
    var automaticSessions: Set<String> {
        state.withLock { state in Set(state.seats.values.compactMap(\.login.session).filter { $0.kind == .automatic }.map(\.id)) }
    }

    func session(_ device: String, requestor: String = "ACME1") -> Session? {
        state.withLock { $0.seats[Seat(device: device, requestor: requestor)]?.login.session }
    }

    // MARK: What the service asks

    func identifyCaller(_ request: IdentifyCallerRequest, context: CallContext) async throws -> IdentifiedCaller {
        let now = clock.now()
        return try state.withLock { state in
            state.calls.append("identifyCaller")
            var caller = try Self.caller(request.call ?? DeviceCall(), state)
            if request.isBackend {
                guard caller.clientID.hasPrefix("backend-"), request.scope == "autosignin:owner" else {
                    throw Fault(.insufficientScope, "The client has no such scope.")
                }
                caller.programmerID = String(caller.clientID.dropFirst("backend-".count))
                return caller
            }
            if var login = state.seats[Seat(device: caller.deviceID, requestor: caller.requestor)]?.login, login.isLive(now) {
                login.allowsAutoSignIn = state.providers.contains(login.session?.mvpd ?? "")
                caller.login = login
            }
            return caller
        }
    }

    func startAutomaticSession(_ request: StartAutomaticSessionRequest, context: CallContext) async throws -> AutomaticSession {
        let now = clock.now()
        let (made, hook) = try state.withLock { state in
            state.calls.append("startAutomaticSession")
            let caller = try Self.caller(request.call ?? DeviceCall(), state)
            let made = AutomaticSession(session: try Self.session(for: caller, request.logins, &state, now), caller: caller)
            defer { state.whileStarting = nil }
            return (made, state.whileStarting)
        }
        try await hook?()
        return made
    }

    func findLiveLogins(_ request: FindLiveLoginsRequest, context: CallContext) async throws -> LiveLogins {
        let now = clock.now()
        return state.withLock { state in
            LiveLogins(logins: request.logins.filter { Self.source([$0], request.requestor, state, now) != nil })
        }
    }

    func endAutomaticSessions(_ request: EndAutomaticSessionsRequest, context: CallContext) async throws -> EndAutomaticSessionsResponse {
        try state.withLock { state in
            state.calls.append("endAutomaticSessions")
            if let fault = state.fault { throw fault }
            state.ended += request.sessionIDs
            let before = state.seats.count
            state.seats = state.seats.filter { _, held in
                held.login.session?.kind != .automatic || !request.sessionIDs.contains(held.login.session?.id ?? "")
            }
            return EndAutomaticSessionsResponse(ended: UInt32(before - state.seats.count))
        }
    }

    private static func caller(_ call: DeviceCall, _ state: State) throws -> IdentifiedCaller {
        if let fault = state.fault { throw fault }
        guard !call.accessToken.isEmpty else { throw Fault(.accessDenied, "The access token is not accepted.") }
        return IdentifiedCaller(
            clientID: call.accessToken, applicationID: "app", programmerID: call.requestor == "BRAVO" ? "bravo" : "acme",
            requestor: call.requestor, deviceID: call.deviceID, device: call.device)
    }

    private static func source(_ logins: [LoginReference], _ requestor: String, _ state: State, _ now: Timestamp) -> Session? {
        state.seats.filter { seat, held in
            let session = held.login.session ?? Session()
            return seat.requestor == requestor && held.login.isLive(now) && session.kind == .regular && state.providers.contains(session.mvpd)
                && logins.contains(LoginReference(mvpd: session.mvpd, userID: session.userID))
        }.values.compactMap(\.login.session).max { $0.expiresAtMilliseconds < $1.expiresAtMilliseconds }
    }

    private static func session(
        for caller: IdentifiedCaller, _ logins: [LoginReference], _ state: inout State, _ now: Timestamp
    ) throws -> Session {
        guard let source = source(logins, caller.requestor, state, now) else { throw Fault(.subscriptionRequired, "No login serves.") }
        let seat = Seat(device: caller.deviceID, requestor: caller.requestor)
        if let held = state.seats[seat], let own = held.login.session, own.userID == source.userID, held.client == caller.clientID { return own }
        state.count += 1
        var session = source
        session.id = "auto-\(state.count)"
        session.kind = .automatic
        session.createdAtMilliseconds = UInt64(now.milliseconds)
        let login = Login(session: session, authenticatedAtMilliseconds: source.createdAtMilliseconds)
        state.seats[seat] = Held(login: login, client: caller.clientID)
        return session
    }
}

extension Login {
    fileprivate func isLive(_ now: Timestamp) -> Bool { session.map { now.milliseconds < Int64($0.expiresAtMilliseconds) } ?? false }
}
