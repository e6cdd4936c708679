internal import Clocks
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func openSession(_ request: OpenSessionRequest, context: CallContext) async throws -> OpenedSession {
        // A session must not live on in others.
        let administrator = try roll.administrator(token: request.token)
        try Rights(administrator: administrator).require(.read)
        guard Prose.isGood(request.client, 0...200) else {
            throw Fault(.invalidRequest, "The client must have at most 200 characters, and no control characters.")
        }
        let secret = SessionSecret.fresh()
        let mark = roll.mark(of: request.token)
        let session = try await publisher.write { ledger in
            let session = KeptSession(
                digest: SessionSecret.digest(secret), name: administrator.name, mark: mark, client: request.client, openedAt: ledger.now,
                usedAt: ledger.now)
            try ledger.open(session)
            let place = request.client.isEmpty ? "" : " from \(request.client)"
            try ledger.record(
                .sessionOpened, by: administrator.name, "Session \(session.id) opened\(place)", programmers: administrator.programmerIDs)
            return session
        }
        return OpenedSession(secret: secret, administrator: administrator, session: session.contract(own: session.digest))
    }

    public func endSession(_ request: EndSessionRequest, context: CallContext) async throws -> EndSessionResponse {
        guard !request.id.isEmpty || SessionSecret.isOne(request.token) else {
            throw Fault(.invalidRequest, "The id of the session is required.")
        }
        let administrator = try await administrator(request.token)
        let own = SessionSecret.digest(request.token)
        let isOperator = administrator.role == .operator
        try await publisher.write { ledger in
            let found = try ledger.sessions().first { session in
                request.id.isEmpty ? session.digest == own : session.id == request.id && (isOperator || session.name == administrator.name)
            }
            guard let session = found else { throw Fault.notFound("session") }
            try ledger.end(session)
            let whose = session.name == administrator.name ? "" : " of \(session.name)"
            try ledger.record(
                .sessionEnded, by: administrator.name, "Session \(session.id)\(whose) ended",
                programmers: administrator.programmerIDs)
        }
        return EndSessionResponse()
    }

    public func listSessions(_ request: ListSessionsRequest, context: CallContext) async throws -> AdministratorSessions {
        let administrator = try await administrator(request.token)
        let own = SessionSecret.digest(request.token)
        let sessions = try await publisher.read { try $0.sessions() }
        let seen = sessions.filter { administrator.role == .operator || $0.name == administrator.name }
        return AdministratorSessions(sessions: seen.map { $0.contract(own: own) })
    }

    /// - Parameter token: A bearer, or the secret of a session, which goes on then.
    /// - Throws: `access_denied`.
    func administrator(_ token: String) async throws(Fault) -> Administrator {
        guard SessionSecret.isOne(token) else { return try roll.administrator(token: token) }
        let digest = SessionSecret.digest(token)
        let (kept, now) = try await publisher.read { ledger in (try ledger.session(digest), ledger.now) }
        guard let session = kept else { throw .noSession }
        let administrator = try roll.administrator(named: session.name, mark: session.mark)
        if session.usedAt + KeptSession.grain <= now { try await publisher.write { try $0.use(session) } }
        return administrator
    }
}
