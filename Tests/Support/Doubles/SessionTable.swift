public import Contracts
public import Faults
internal import Synchronization

/// Sessions by device and requestor, from which a double of `Sessions` answers.
public final class SessionTable: Sendable {
    private struct Key: Hashable {
        let device: String
        let requestor: String
    }

    private struct State {
        var sessions: [Key: Result<SessionSubject, Fault>] = [:]
        var fault: Fault?
    }

    private let state = Mutex(State())

    public init() {}

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

    /// Every question fails with this until it is set to `nil`.
    public func fail(with fault: Fault?) {
        state.withLock { $0.fault = fault }
    }

    /// - Throws: `authentication_session_missing`, or as the test said.
    public func session(for request: SessionRequest) throws(Fault) -> SessionSubject {
        let call = request.call ?? DeviceCall()
        let result = state.withLock { state -> Result<SessionSubject, Fault> in
            if let fault = state.fault { return .failure(fault) }
            let missing = Fault(.authenticationSessionMissing, "User not authenticated")
            return state.sessions[Key(device: call.deviceID, requestor: call.requestor)] ?? .failure(missing)
        }
        return try result.get()
    }
}

extension SessionsDouble {
    /// Finds sessions in a table.
    public convenience init(_ table: SessionTable) {
        self.init()
        findSession.answer { request, _ in try table.session(for: request) }
    }

    /// Answers what it is asked about sessions to play: with their session, and upstream's decision where the conditions hold. Until then such a call
    /// is `unimplemented`, as of a service that has only the two calls.
    public func offerVisits() {
        findSessionToPlay.answer { [unowned self] request, context in
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
