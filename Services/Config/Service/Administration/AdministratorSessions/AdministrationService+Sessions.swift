internal import Clocks
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func openSession(_ request: OpenSessionRequest, context: CallContext) async throws -> OpenedSession {
        // A session must not live on in others.
        let administrator = try request.person.map { try signedIn($0, request, context) } ?? administratorRegistry.administrator(token: request.token)
        try Rights(administrator: administrator).require(.read)
        guard FreeText.isGood(request.client, 0...200) else {
            throw Fault(.invalidRequest, "The client must have at most 200 characters, and no control characters.")
        }
        let secret = SessionSecret.fresh()
        let isSignedIn = request.person != nil
        let mark = isSignedIn ? "" : administratorRegistry.mark(of: request.token)
        let session = try await publisher.write { ledger in
            let session = KeptSession(
                digest: SessionSecret.digest(secret), name: administrator.name, mark: mark, client: request.client, openedAt: ledger.now,
                usedAt: ledger.now, signedIn: isSignedIn ? administrator : nil)
            try ledger.open(session)
            let place = (isSignedIn ? " by the identity provider" : "") + (request.client.isEmpty ? "" : " from \(request.client)")
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
        guard SessionSecret.isOne(token) else { return try administratorRegistry.administrator(token: token) }
        let digest = SessionSecret.digest(token)
        let (kept, now) = try await publisher.read { ledger in (try ledger.session(digest), ledger.now) }
        guard let session = kept else { throw .noSession }
        let administrator: Administrator
        if let person = session.signedIn {
            administrator = try stillSignedIn(person)
        } else {
            administrator = try administratorRegistry.administrator(named: session.name, mark: session.mark)
        }
        if session.usedAt + KeptSession.grain <= now { try await publisher.write { try $0.use(session) } }
        return administrator
    }

    /// The caller vouches for the person; what it says is checked for form alone.
    /// - Throws: `access_denied` when the caller may not, or the name is another administrator's; `invalid_request`.
    private func signedIn(_ person: SignedInPerson, _ request: OpenSessionRequest, _ context: CallContext) throws(Fault) -> Administrator {
        guard let caller = context.caller, sessionCallers.contains(caller), request.token.isEmpty else {
            throw Fault(.accessDenied, "The caller may not open a session for somebody; config.sessionCallers names those who may.")
        }
        let isBound = person.role == .viewer || person.role == .editor
        guard isBound || person.role == .operator, (isBound ? 1...100 : 0...0).contains(person.programmerIDs.count),
            person.programmerIDs.allSatisfy(Self.isProgrammer)
        else {
            throw Fault(.invalidRequest, "A viewer or editor needs 1 to 100 programmers, an operator none; there is no other role.")
        }
        guard FreeText.isGood(person.name, 1...255), !person.name.contains("\n") else {
            throw Fault(.invalidRequest, "A name must have 1 to 255 characters, and no control characters.")
        }
        guard !AuditAuthor.isOne(person.name) else {
            throw Fault(.invalidRequest, "The name is one that stands for no person in the audit log.")
        }
        return try stillSignedIn(Administrator(name: person.name, role: person.role, programmerIDs: person.programmerIDs))
    }

    /// Nobody passes for an administrator with a bearer, whose drafts and sessions are known by the name.
    private func stillSignedIn(_ administrator: Administrator) throws(Fault) -> Administrator {
        guard !sessionCallers.isEmpty, !administratorRegistry.has(administrator.name) else { throw .noSession }
        return administrator
    }

    /// Ids are kept in a column with a space between.
    private static func isProgrammer(_ id: String) -> Bool {
        (1...128).contains(id.utf8.count) && id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "*") }
    }
}
