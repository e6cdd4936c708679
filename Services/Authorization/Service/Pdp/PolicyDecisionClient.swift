internal import Clocks
internal import Contracts
internal import Faults

/// Asks MVPDs' decision points (mvpd §4): one attempt, at most one more where that is safe, within a budget, behind a breaker per endpoint.
struct PolicyDecisionClient: Sendable {
    let transport: any DecisionTransport
    let clock: any WallClock
    /// Pause before the second attempt.
    let jitter: @Sendable () -> Duration
    private let breakers = CircuitBreakers()

    init(transport: any DecisionTransport, clock: any WallClock, jitter: @escaping @Sendable () -> Duration) {
        self.transport = transport
        self.clock = clock
        self.jitter = jitter
    }

    /// - Parameter deadline: When the caller stops waiting; cuts the endpoint's budget short.
    /// - Throws: `network_connection_timeout`, `network_received_error`, `maximum_execution_time_exceeded` as mvpd §4.3 maps them;
    ///   `internal` when the endpoint's record is unusable, `cancelled`.
    func decide(_ query: DecisionQuery, at record: AuthorizationEndpoint, deadline: ContinuousClock.Instant?) async throws(Fault) -> MvpdDecision {
        let id = query.resourceID(record)
        return try await ask(XacmlJsonRequest(query, endpoint: record), at: record, deadline: deadline) { response throws(Fault) in
            try DecisionInterpretation.decide(response, resourceID: id)
        }
    }

    /// Asks about several resources in one call; those of equal id are one question.
    /// - Parameter queries: About one subject and device.
    /// - Returns: Decisions by resource id; one that the MVPD did not give is missing.
    /// - Throws: As `decide`.
    func decideEach(
        _ queries: [DecisionQuery], at record: AuthorizationEndpoint, deadline: ContinuousClock.Instant?
    ) async throws(Fault) -> [String: MvpdDecision] {
        var ids: [String] = []
        let questions = queries.filter { query in
            let id = query.resourceID(record)
            defer { ids.append(id) }
            return !ids.contains(id)
        }
        guard let first = questions.first else { return [:] }
        let asked = questions.map { $0.resourceID(record) }
        let request = XacmlJsonRequest(first, and: questions.dropFirst(), endpoint: record)
        return try await ask(request, at: record, deadline: deadline) { response throws(Fault) in
            try DecisionInterpretation.decideEach(response, resourceIDs: asked)
        }
    }

    private func ask<Answer>(
        _ request: XacmlJsonRequest, at record: AuthorizationEndpoint, deadline: ContinuousClock.Instant?,
        _ interpret: (XacmlJsonResponse) throws(Fault) -> Answer
    ) async throws(Fault) -> Answer {
        let endpoint = try DecisionEndpoint(record)
        let body: [UInt8]
        do {
            body = try request.serialized()
        } catch {
            throw .unexpected(error)
        }
        let permission = breakers.ask(endpoint.url, now: clock.now())
        guard permission != .refused else { throw Self.fault(.networkReceivedError, "the breaker is open") }
        do throws(Fault) {
            let answer = try await exchange(body, with: endpoint, deadline: deadline)
            let decision = try interpret(try Self.response(answer))
            breakers.record(.success, endpoint.url, permission: permission, now: clock.now())
            return decision
        } catch {
            let outcome: CircuitBreaker.Outcome = error.code == .cancelled ? .abandoned : .failure
            breakers.record(outcome, endpoint.url, permission: permission, now: clock.now())
            throw error
        }
    }

    private func exchange(
        _ body: [UInt8], with endpoint: DecisionEndpoint, deadline: ContinuousClock.Instant?
    ) async throws(Fault) -> DecisionTransportAnswer {
        let budget = ContinuousClock.now.advanced(by: endpoint.totalTimeout)
        let end = min(budget, deadline ?? budget)
        do {
            return try await transport.post(body, to: endpoint, timeLeft: try Self.timeLeft(until: end))
        } catch  where error.isSafeToRepeat {
            return try await repeated(body, with: endpoint, end: end)
        } catch {
            throw Self.fault(error)
        }
    }

    private func repeated(
        _ body: [UInt8], with endpoint: DecisionEndpoint, end: ContinuousClock.Instant
    ) async throws(Fault) -> DecisionTransportAnswer {
        do {
            try await Task.sleep(for: jitter())
        } catch {
            throw .unexpected(error)
        }
        do {
            return try await transport.post(body, to: endpoint, timeLeft: try Self.timeLeft(until: end))
        } catch {
            throw Self.fault(error)
        }
    }

    private static func timeLeft(until end: ContinuousClock.Instant) throws(DecisionTransportFailure) -> Duration {
        let left = ContinuousClock.now.duration(to: end)
        guard left > .zero else { throw DecisionTransportFailure(.budgetSpent) }
        return left
    }

    private static func response(_ answer: DecisionTransportAnswer) throws(Fault) -> XacmlJsonResponse {
        guard answer.status == 200 else { throw fault(.networkReceivedError, "status \(answer.status)") }
        do {
            return try XacmlJsonResponse(json: answer.body)
        } catch {
            throw fault(.networkReceivedError, "the answer is no XACML response")
        }
    }

    private static func fault(_ failure: DecisionTransportFailure) -> Fault {
        let cause = "\(failure.kind) \(failure.cause)"
        return switch failure.kind {
        case .connectTimeout, .responseTimeout: fault(.networkConnectionTimeout, cause)
        case .budgetSpent: fault(.maximumExecutionTimeExceeded, cause)
        case .notSent, .resetBeforeAnswer, .unusable: fault(.networkReceivedError, cause)
        case .cancelled: Fault(.cancelled, "The call was cancelled.")
        }
    }

    private static func fault(_ code: Fault.Code, _ cause: String) -> Fault {
        Fault(code, "The MVPD could not be asked.", retryAfter: .seconds(2), cause: DecisionPointProblem(cause))
    }
}
