internal import AuthenticationCore
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Tells services that decide what they need to know of a session.
struct SessionSubjects: CallRegistration {
    let sessions: SessionLookup
    let stored: StoredSessions
    let profiles: ProfileLookup
    /// The first that decides about a session is named.
    let deciders: [any Decider]

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(SessionsMethods.findSession) { request, _ in try await find(request) }
        calls.unary(SessionsMethods.findSessionByCode) { request, _ in
            let (record, catalogue) = try await sessions.session(byCode: request)
            return try await decided(record.subjectContract(in: catalogue), record)
        }
    }

    private func find(_ request: SessionRequest) async throws(Fault) -> SessionSubject {
        guard request.call?.api != .v2 else { return try await profiles.subject(request) }
        let (record, catalogue) = try await sessions.session(of: request.call, hidesDisabled: false)
        var subject = record.subjectContract(in: catalogue)
        if let token = request.call?.storedToken { try stored.complete(&subject, of: record, as: token) }
        return try await decided(subject, record)
    }

    /// With the one that decides about the session, where the MVPD does not.
    private func decided(_ subject: SessionSubject, _ record: SessionRecord) async throws(Fault) -> SessionSubject {
        var subject = subject
        for decider in deciders where subject.bridge == nil { subject.bridge = try await decider.decider(of: record) }
        return subject
    }
}
