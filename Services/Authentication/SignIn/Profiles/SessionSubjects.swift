internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Tells services that decide what they need to know of a session, and what an upstream decides about it.
struct SessionSubjects: CallRegistration {
    let sessions: SessionLookup
    let stored: StoredSessions
    let profiles: ProfileLookup
    /// The first that decides about a session is named.
    let deciders: [any Decider]
    /// The first that decides about the session's plays does.
    let plays: [any PlayDecider]
    let catalogue: any CatalogueSource

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(SessionsMethods.findSession) { request, _ in try await find(request).subject }
        calls.unary(SessionsMethods.findSessionToPlay) { request, _ in try await find(toPlay: request) }
        calls.unary(SessionsMethods.findSessionByCode) { request, _ in
            let (record, catalogue) = try await sessions.session(byCode: request)
            return try await decided(record.subjectContract(in: catalogue), record)
        }
    }

    /// - Returns: Beside the subject its session; `nil` where something else stands for one.
    private func find(_ request: SessionRequest) async throws(Fault) -> (subject: SessionSubject, record: SessionRecord?) {
        if request.call?.api == .v2 {
            let (subject, record) = try await profiles.subject(request)
            guard let record else { return (subject, nil) }
            return (try await decided(subject, record), record)
        }
        let (record, catalogue) = try await sessions.session(of: request.call, hidesDisabled: false)
        var subject = record.subjectContract(in: catalogue)
        if let token = request.call?.storedToken { try stored.complete(&subject, of: record, as: token) }
        return (try await decided(subject, record), record)
    }

    /// With the one that decides about the session, where the MVPD does not.
    private func decided(_ subject: SessionSubject, _ record: SessionRecord) async throws(Fault) -> SessionSubject {
        var subject = subject
        for decider in deciders where subject.bridge == nil { subject.bridge = try await decider.decider(of: record) }
        return subject
    }

    // MARK: To play

    private func find(toPlay request: SessionToPlayRequest) async throws(Fault) -> SessionToPlay {
        let call = request.session ?? SessionRequest()
        let (subject, record) = try await find(call)
        var answer = SessionToPlay(subject: subject)
        guard let record, let bridge = subject.bridge, request.wants(record, bridge), try isIntegrated(record, call.call?.device?.platform)
        else { return answer }
        let question = AskUpstreamRequest(
            call: call.call, sessionID: record.id.text, resources: [request.resource], genericData: request.genericData)
        do throws(Fault) {
            for decider in plays where answer.decisions == nil { answer.decisions = try await decider.decide(question, about: record) }
        } catch {
            answer.fault = UpstreamFault(error)
        }
        return answer
    }

    /// The integration comes before everything else (bridge §9.1): the caller says what is wrong with it.
    private func isIntegrated(_ record: SessionRecord, _ platform: Platform?) throws(Fault) -> Bool {
        let catalogue = try catalogue.current()
        let partners = try? catalogue.requireIntegration(requestor: record.key.requestor.text, mvpd: record.mvpd.text, platform: platform)
        return partners != nil
    }
}

extension SessionToPlayRequest {
    /// True when the caller wants upstream to be asked about the session.
    fileprivate func wants(_ record: SessionRecord, _ bridge: BridgedSession) -> Bool {
        guard onlySessionID.isEmpty || SessionID(onlySessionID) == record.id, SessionID(settledSessionID) != record.id else { return false }
        guard mvpd.isEmpty || MvpdID(mvpd) == record.mvpd else { return false }
        return !requiresIdentity || !bridge.needsIdentity || !genericData.isEmpty
    }
}

extension UpstreamFault {
    /// As it would cross the wire by itself: of an `internal` fault no text.
    init(_ fault: Fault) {
        let isInternal = fault.code == .internal
        let wait = fault.retryAfter.map { UInt64(clamping: max(1, $0.wholeMilliseconds)) }
        self.init(
            code: fault.code.rawValue, message: isInternal ? "" : fault.message, isRetryable: fault.isRetryable, retryAfterMilliseconds: wait ?? 0,
            details: isInternal ? "" : fault.details ?? "")
    }
}
