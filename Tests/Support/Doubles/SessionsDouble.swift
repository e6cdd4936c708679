public import ContractRuntime
public import Contracts
public import Faults
internal import Synchronization

/// Stands in for the `Sessions` of the authentication service: holds sessions by device and requestor.
///
/// Only the bearers that it was given are accepted; without any, all are.
public final class SessionsDouble: Sessions {
    private struct Key: Hashable {
        let device: String
        let requestor: String
    }

    private struct State {
        var sessions: [Key: Result<SessionSubject, Fault>] = [:]
        var bearers: Set<String> = []
        var fault: Fault?
        var requests: [SessionRequest] = []
        var visits: [SessionToPlayRequest] = []
        var visit: Scripted<SessionToPlayRequest, SessionToPlay>.Operation?
    }

    private let state = Mutex(State())

    public let findSessionByCode = Scripted<SessionByCodeRequest, SessionSubject>()
    public let spendTempPass = Scripted<SpendTempPassRequest, TempPassBalance>()
    public let getUpstreamToken = Scripted<UpstreamTokenRequest, UpstreamToken>()
    public let askUpstream = Scripted<AskUpstreamRequest, UpstreamDecisions>()
    public let updateAttributes = Scripted<UpdateAttributesRequest, UpdateAttributesResponse>()

    public init() {}

    /// Every request so far, oldest first.
    public var requests: [SessionRequest] { state.withLock { $0.requests } }

    /// Every request for a session to play so far, oldest first; their sessions are among `requests` too.
    public var visits: [SessionToPlayRequest] { state.withLock { $0.visits } }

    /// Answers what it is asked about sessions to play: with their session, and upstream's decision where the conditions hold. Until then such a call
    /// is `unimplemented`, as of a service that has only the two calls.
    public func offerVisits() {
        state.withLock { state in
            state.visit = { [unowned self] request, context in
                let subject = try await findSession(request.session ?? SessionRequest(), context: context)
                var answer = SessionToPlay(subject: subject)
                let id = subject.session?.id ?? ""
                let isWanted =
                    (request.onlySessionID.isEmpty || request.onlySessionID == id) && request.settledSessionID != id
                    && (request.mvpd.isEmpty || request.mvpd == subject.session?.mvpd)
                guard let bridge = subject.bridge, isWanted, !request.requiresIdentity || !bridge.needsIdentity || !request.genericData.isEmpty
                else { return answer }
                let question = AskUpstreamRequest(
                    call: request.session?.call, sessionID: id, resources: [request.resource], genericData: request.genericData)
                do {
                    answer.decisions = try await askUpstream(question, context: context)
                } catch let fault as Fault {
                    answer.fault = UpstreamFault(
                        code: fault.code.rawValue, message: fault.message, isRetryable: fault.isRetryable, details: fault.details ?? "")
                }
                return answer
            }
        }
    }

    /// Accepts this access token, and from now on only those that were allowed.
    public func allow(bearer: String) {
        state.withLock { _ = $0.bearers.insert(bearer) }
    }

    public func put(_ subject: SessionSubject, device: String, requestor: String) {
        state.withLock { $0.sessions[Key(device: device, requestor: requestor)] = .success(subject) }
    }

    /// The session is over, but remembered.
    public func expire(device: String, requestor: String) {
        let fault = Fault(.authenticationSessionExpired, "Authentication token expired")
        state.withLock { $0.sessions[Key(device: device, requestor: requestor)] = .failure(fault) }
    }

    /// As after a logout.
    public func remove(device: String, requestor: String) {
        state.withLock { $0.sessions[Key(device: device, requestor: requestor)] = nil }
    }

    /// Every call fails with this until it is set to `nil`.
    public func fail(with fault: Fault?) {
        state.withLock { $0.fault = fault }
    }

    public func findSession(_ request: SessionRequest, context: CallContext) async throws -> SessionSubject {
        let call = request.call ?? DeviceCall()
        let result = state.withLock { state -> Result<SessionSubject, Fault> in
            state.requests.append(request)
            if let fault = state.fault { return .failure(fault) }
            guard state.bearers.isEmpty || state.bearers.contains(call.accessToken) else {
                return .failure(Fault(.accessDenied, "The access token is not accepted."))
            }
            let missing = Fault(.authenticationSessionMissing, "User not authenticated")
            return state.sessions[Key(device: call.deviceID, requestor: call.requestor)] ?? .failure(missing)
        }
        return try result.get()
    }

    public func findSessionToPlay(_ request: SessionToPlayRequest, context: CallContext) async throws -> SessionToPlay {
        let visit = state.withLock { state in
            state.visits.append(request)
            return state.visit
        }
        guard let visit else { throw Fault(.unimplemented, "The service or the method is not offered here.") }
        return try await visit(request, context)
    }

    public func findSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> SessionSubject {
        try await findSessionByCode(request, context)
    }

    public func spendTempPass(_ request: SpendTempPassRequest, context: CallContext) async throws -> TempPassBalance {
        try await spendTempPass(request, context)
    }

    public func getUpstreamToken(_ request: UpstreamTokenRequest, context: CallContext) async throws -> UpstreamToken {
        try await getUpstreamToken(request, context)
    }

    public func askUpstream(_ request: AskUpstreamRequest, context: CallContext) async throws -> UpstreamDecisions {
        try await askUpstream(request, context)
    }

    public func updateAttributes(_ request: UpdateAttributesRequest, context: CallContext) async throws -> UpdateAttributesResponse {
        try await updateAttributes(request, context)
    }
}
