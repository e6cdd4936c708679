internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import OutboundHttp
internal import SamlProfile

/// Asks MVPDs' decision points (mvpd §4). It makes one attempt, and at most one more where that is safe, within a budget. A breaker and a limit of
/// calls protect each endpoint.
struct PolicyDecisionClient: Sendable {
    let transport: any OutboundTransport
    let certificates: ClientCertificates
    let clock: any WallClock
    let forms: DecisionForms
    let tokens: ProviderTokens
    /// Pause before the second attempt.
    let jitter: @Sendable () -> Duration
    private let breakers = CircuitBreakers()
    private let calls = CallsInFlight()
    private let failures = DecisionPointFailures()

    init(
        transport: any OutboundTransport, certificates: ClientCertificates, clock: any WallClock, forms: DecisionForms, tokens: ProviderTokens,
        jitter: @escaping @Sendable () -> Duration
    ) {
        self.transport = transport
        self.certificates = certificates
        self.clock = clock
        self.forms = forms
        self.tokens = tokens
        self.jitter = jitter
    }

    /// - Parameter context: Its deadline, when the caller stops waiting, cuts the endpoint's budget short.
    /// - Throws: `network_connection_timeout`, `network_received_error`, `maximum_execution_time_exceeded` as mvpd §4.3 maps them;
    ///   `authorization_denied_by_session_invalidated` when the MVPD gives no access token any more; `internal` when the endpoint's record is
    ///   unusable, `cancelled`.
    func decide(_ query: DecisionQuery, at point: DecisionPoint, context: CallContext) async throws(Fault) -> MvpdDecision {
        let id = query.resourceID(point)
        return try await ask(query, and: [], at: point, context: context) { answer throws(Fault) in
            try DecisionInterpretation(point).decide(answer, resourceID: id)
        }
    }

    /// Asks about several resources in one call; those of equal id are one question.
    /// - Parameter queries: About one subject and device.
    /// - Returns: Decisions by resource id; one that the MVPD did not give is missing.
    /// - Throws: As `decide`.
    func decideEach(_ queries: [DecisionQuery], at point: DecisionPoint, context: CallContext) async throws(Fault) -> [OctetText: MvpdDecision] {
        var ids: [String] = []
        let questions = queries.filter { query in
            let id = query.resourceID(point)
            guard !ids.contains(id) else { return false }
            ids.append(id)
            return true
        }
        guard let first = questions.first else { return [:] }
        return try await ask(first, and: questions.dropFirst(), at: point, context: context) { answer throws(Fault) in
            try DecisionInterpretation(point).decideEach(answer, resourceIDs: ids)
        }
    }

    private func ask<Answer>(
        _ query: DecisionQuery, and others: ArraySlice<DecisionQuery>, at point: DecisionPoint, context: CallContext,
        _ interpret: (DecisionAnswer) throws(Fault) -> Answer
    ) async throws(Fault) -> Answer {
        let endpoint = try DecisionEndpoint(point.record)
        let end = ContinuousClock.now.advanced(by: endpoint.totalTimeout)
        guard calls.enter(endpoint.url, limit: endpoint.callsInFlight) else {
            throw Self.fault(.networkReceivedError, "too many calls are under way")
        }
        defer { calls.leave(endpoint.url) }
        let permission = breakers.ask(endpoint.url, now: clock.now())
        guard permission != .refused else { throw Self.fault(.networkReceivedError, "the breaker is open") }
        let form: any DecisionForm
        let request: OutboundRequest
        do throws(Fault) {
            (form, request) = try await question(query, and: others, at: point, context: context)
        } catch {
            breakers.record(.abandoned, endpoint.url, permission: permission, now: clock.now())
            throw error
        }
        do throws(Fault) {
            let received = try await exchange(request, with: endpoint, until: context.deadline.map { min($0, end) } ?? end)
            let answer = try interpret(try Self.answer(received, form))
            breakers.record(.success, endpoint.url, permission: permission, now: clock.now())
            failures.succeeded(point.mvpd.id)
            return answer
        } catch {
            let outcome: CircuitBreaker.Outcome = error.code == .cancelled ? .abandoned : .failure
            breakers.record(outcome, endpoint.url, permission: permission, now: clock.now())
            if error.code != .cancelled { failures.failed(point.mvpd.id, at: endpoint.url, error.code, now: clock.now()) }
            throw error
        }
    }

    /// The MVPDs whose decision points fail now, as this copy has met them.
    func failing(in catalogue: Catalogue) -> FailingDecisionPoints {
        let now = clock.now()
        return failures.list(now: now, isKnown: { catalogue.mvpd($0) != nil }, rests: { breakers.rest($0, now: now) != nil })
    }

    private func question(
        _ query: DecisionQuery, and others: ArraySlice<DecisionQuery>, at point: DecisionPoint, context: CallContext
    ) async throws(Fault) -> (any DecisionForm, OutboundRequest) {
        do {
            let form = try forms.form(query, and: others, at: point)
            var request = try form.request(to: point.record.url)
            // The record's word wins, also over a header that we would send by ourselves.
            if let header = point.proxiedMvpdHeader { request.set(header) }
            if point.record.queryAuthentication == .bearer { request.headers.append(try await tokens.bearer(for: query, context: context)) }
            return (form, request)
        } catch let problem as DecisionPointError {
            throw Fault(.internal, "An internal fault occurred.", cause: problem)
        } catch {
            throw .unexpected(error)
        }
    }

    private func exchange(
        _ request: OutboundRequest, with endpoint: DecisionEndpoint, until end: ContinuousClock.Instant
    ) async throws(Fault) -> OutboundAnswer {
        do {
            return try await transport.send(request, by: try endpoint.route(certificates), timeLeft: try Self.timeLeft(until: end))
        } catch  where error.isUnsent || error.kind == .resetBeforeAnswer {
            // The decision point cannot answer the same request twice.
            return try await repeated(request, with: endpoint, end: end)
        } catch {
            throw Self.fault(error)
        }
    }

    private func repeated(
        _ request: OutboundRequest, with endpoint: DecisionEndpoint, end: ContinuousClock.Instant
    ) async throws(Fault) -> OutboundAnswer {
        do {
            try await Task.sleep(for: jitter())
        } catch {
            throw .unexpected(error)
        }
        do {
            return try await transport.send(request, by: try endpoint.route(certificates), timeLeft: try Self.timeLeft(until: end))
        } catch {
            throw Self.fault(error)
        }
    }

    private static func timeLeft(until end: ContinuousClock.Instant) throws(OutboundFailure) -> Duration {
        let left = ContinuousClock.now.duration(to: end)
        guard left > .zero else { throw OutboundFailure(.budgetSpent) }
        return left
    }

    private static func answer(_ received: OutboundAnswer, _ form: any DecisionForm) throws(Fault) -> DecisionAnswer {
        guard received.isDocument else { throw fault(.networkReceivedError, "status \(received.status)") }
        do {
            return try form.answer(received)
        } catch {
            throw fault(.networkReceivedError, error.description)
        }
    }

    private static func fault(_ failure: OutboundFailure) -> Fault {
        let cause = "\(failure.kind) \(failure.cause)"
        return switch failure.kind {
        case .connectTimeout, .responseTimeout: fault(.networkConnectionTimeout, cause)
        case .budgetSpent: fault(.maximumExecutionTimeExceeded, cause)
        case .notSent, .refusedAddress, .noCertificate, .resetBeforeAnswer, .unusable: fault(.networkReceivedError, cause)
        case .cancelled: Fault(.cancelled, "The call was cancelled.")
        }
    }

    private static func fault(_ code: Fault.Code, _ cause: String) -> Fault {
        Fault(code, "The MVPD could not be asked.", retryAfter: .seconds(2), cause: DecisionPointError(cause))
    }
}

/// An MVPD's decision point as the catalogue describes it.
struct DecisionPoint: Sendable {
    let mvpd: Mvpd
    let record: AuthorizationEndpoint
    let vocabulary: XacmlVocabulary

    init(_ mvpd: Mvpd) {
        self.mvpd = mvpd
        record = mvpd.authorization ?? AuthorizationEndpoint()
        vocabulary = XacmlVocabulary(record.names ?? DecisionNames(), subjectAsToken: record.subjectAsToken)
    }

    /// True when one message can carry several questions.
    var takesSeveral: Bool { record.protocol != .restMrss }

    /// The header that tells a proxy which of its MVPDs is meant (mvpd §4.1).
    var proxiedMvpdHeader: OutboundRequest.Header? {
        guard mvpd.isProxied, !record.proxiedMvpdHeader.isEmpty else { return nil }
        return (record.proxiedMvpdHeader, mvpd.providerID.isEmpty ? mvpd.id : mvpd.providerID)
    }
}

/// The values that the SOAP form takes from the sign-in, where the endpoint does not say otherwise (mvpd §4.1, §4.2).
extension DecisionPoint {
    private var saml: SamlEndpoint? {
        if case .saml(let endpoint) = mvpd.signIn { endpoint } else { nil }
    }

    /// The required issuer of answers: the same as at login.
    var issuer: ExpectedIssuer {
        if !record.issuer.isEmpty { return .direct(entityID: record.issuer) }
        if mvpd.isProxied { return .proxied(ids: [mvpd.id, mvpd.providerID].filter { !$0.isEmpty }) }
        return .direct(entityID: saml?.idpEntityID ?? "")
    }

    var signingCertificates: [[UInt8]] { record.signingCertificates.isEmpty ? saml?.signingCertificates ?? [] : record.signingCertificates }

    func onBehalfOf(_ requestor: String) -> String {
        if let saml, !saml.partnerID.isEmpty { return saml.partnerID }
        return requestor
    }

    var scoping: SamlProfile.ScopingMode {
        switch saml?.scopingMode ?? record.scopingMode {
        case .requesterId: .requesterID
        case .both: .both
        case .none: .none
        case .issuerSuffix, .unrecognized: .issuerSuffix
        }
    }
}
