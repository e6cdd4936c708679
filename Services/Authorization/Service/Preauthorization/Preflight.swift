internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging

/// The resources, among several, that an MVPD would permit, by the method that its record names (mvpd §4.4).
struct Preflight: Sendable {
    /// Questions under way at once when each resource is asked for by itself.
    static let mostInFlight = 5

    let client: PolicyDecisionClient

    /// - Returns: A verdict for each resource, in order. An MVPD that cannot be asked leaves its resources unanswered.
    /// - Throws: Faults that no MVPD is to blame for: `cancelled`, `internal`, `unimplemented`.
    func verdicts(
        _ resources: [RequestedResource], _ session: SessionAtHand, mvpd: Mvpd, context: CallContext
    ) async throws(Fault) -> [ResourceVerdict] {
        let point = DecisionPoint(mvpd)
        if point.record.preflightStrategy == .lineup { return Self.lineup(resources, session) }
        switch point.record.protocol {
        case .none: return resources.map { _ in .permitted }
        case .unrecognized: throw Fault(.unimplemented, "The MVPD's authorization protocol is not supported.")
        default: break
        }
        var context = context
        let end = ContinuousClock.now.advanced(by: try DecisionEndpoint(point.record).totalTimeout)
        context.deadline = context.deadline.map { min($0, end) } ?? end
        let queries = resources.map { DecisionQuery(session, $0) }
        let single = queries.indices.map { [$0] }
        let batches = point.takesSeveral && point.record.preflightStrategy != .forkJoin ? Self.batches(queries, point) : single
        let answers = try await ask(queries, in: batches, at: point, context: context)
        guard point.record.preflightFallback, batches.count < single.count else { return Self.verdicts(answers) }
        // Some MVPDs answer nothing when one id is unknown: the questions of such a call are asked one by one.
        let silent = batches.filter { $0.count > 1 && $0.allSatisfy { answers[$0] == .silence } }.flatMap(\.self)
        guard !silent.isEmpty else { return Self.verdicts(answers) }
        return Self.verdicts(try await ask(queries, in: silent.map { [$0] }, at: point, context: context, after: answers))
    }

    /// The channels that the MVPD sent at sign-in; letter case does not count (rest-v1 §3.16).
    private static func lineup(_ resources: [RequestedResource], _ session: SessionAtHand) -> [ResourceVerdict] {
        let channels = Set(session.attributes.filter { $0.key == "channelID" }.flatMap(\.values).map { $0.lowercased() })
        return resources.map { channels.contains($0.channel.lowercased()) ? .permitted : .denied(Denial(code: .authorizationDeniedByMvpd)) }
    }

    /// Positions of the questions that one call may carry. Answers are told apart by their ids, so questions of one id that differ in anything else
    /// (a rating) go into different calls.
    private static func batches(_ queries: [DecisionQuery], _ point: DecisionPoint) -> [[Int]] {
        var batches: [(positions: [Int], questions: [OctetText: [DecisionQuery.Attribute]])] = []
        for (position, query) in queries.enumerated() {
            let (id, attributes) = (query.resourceID(point), query.resourceAttributes(point))
            let fitting = batches.firstIndex { $0.questions[id] == nil || $0.questions[id] == attributes }
            if let fitting {
                batches[fitting].positions.append(position)
                batches[fitting].questions[id] = attributes
            } else {
                batches.append(([position], [OctetText(id): attributes]))
            }
        }
        return batches.map(\.positions)
    }

    /// The result of one question.
    private enum Answer: Hashable {
        case decided(MvpdDecision)
        /// The MVPD answered, but not this.
        case silence
        case failed(Fault.Code)
    }

    private static func verdicts(_ answers: [Answer]) -> [ResourceVerdict] {
        answers.map { answer in
            switch answer {
            case .decided(let decision): ResourceVerdict(decision)
            case .silence: .unanswered(.networkReceivedError)
            case .failed(let code): .unanswered(code)
            }
        }
    }

    private func ask(
        _ queries: [DecisionQuery], in batches: [[Int]], at point: DecisionPoint, context: CallContext, after earlier: [Answer]? = nil
    ) async throws(Fault) -> [Answer] {
        var answers = earlier ?? Array(repeating: .silence, count: queries.count)
        var failure: Fault?
        await withTaskGroup(of: (positions: [Int], result: Result<[OctetText: MvpdDecision], Fault>).self) { group in
            var waiting = batches[...]
            func startNext() {
                guard let positions = waiting.popFirst() else { return }
                group.addTask { (positions, await decide(positions.map { queries[$0] }, at: point, context: context)) }
            }
            for _ in 0..<Self.mostInFlight { startNext() }
            for await answer in group {
                startNext()
                switch answer.result {
                case .success(let decisions):
                    for position in answer.positions {
                        answers[position] = decisions[queries[position].resourceID(point)].map(Answer.decided) ?? .silence
                    }
                case .failure(let fault) where Self.isTheMvpds(fault.code):
                    for position in answer.positions { answers[position] = .failed(fault.code) }
                case .failure(let fault) where fault.code == .authorizationDeniedBySessionInvalidated:
                    for position in answer.positions { answers[position] = .decided(.deny(Denial(code: fault.code))) }
                case .failure(let fault): failure = fault
                }
            }
        }
        if let failure { throw failure }
        return answers
    }

    private func decide(
        _ queries: [DecisionQuery], at point: DecisionPoint, context: CallContext
    ) async -> Result<[OctetText: MvpdDecision], Fault> {
        do throws(Fault) {
            return .success(try await client.decideEach(queries, at: point, context: context))
        } catch {
            return .failure(error)
        }
    }

    private static func isTheMvpds(_ code: Fault.Code) -> Bool {
        [.networkConnectionTimeout, .networkReceivedError, .maximumExecutionTimeExceeded].contains(code)
    }
}

/// The outcome of a preauthorization for one resource.
enum ResourceVerdict: Hashable, Sendable {
    case permitted
    case denied(Denial)
    /// The MVPD did not say: not authorized, and worth another try (mvpd §4.4).
    case unanswered(Fault.Code)

    init(_ decision: MvpdDecision) {
        switch decision {
        case .permit: self = .permitted
        case .deny(let denial): self = .denied(denial)
        }
    }

    func answer(_ resource: RequestedResource) -> PreauthorizedResource {
        switch self {
        case .permitted: PreauthorizedResource(id: resource.text, authorized: true)
        case .denied(let denial):
            PreauthorizedResource(id: resource.text, authorized: false, refusal: Self.refusal(denial.code, denial.details))
        case .unanswered(let code): PreauthorizedResource(id: resource.text, authorized: false, refusal: Self.refusal(code, nil))
        }
    }

    /// A plain denial has a code of its own here (rest-v1 §3.16).
    private static func refusal(_ code: Fault.Code, _ details: String?) -> ResourceRefusal {
        let code = code == .authorizationDeniedByMvpd ? .preauthorizationDeniedByMvpd : code
        return ResourceRefusal(code: code.rawValue, details: details ?? "")
    }
}

/// The resources, among several, that may be watched (rest-v1 §3.16). Informative: keeps nothing.
struct Preauthorizer: Sendable {
    let preflight: Preflight
    let bridged: UpstreamPreflight
    let logger: Logger
    let metrics: AuthorizationMetrics

    /// TempPass, limit, degradation rules, MVPD: in this order. A TempPass permits everything and knows no limit (rest-v1 §6.2).
    /// - Throws: `too_many_resources`, and faults that no MVPD is to blame for.
    func preauthorize(
        _ resources: [RequestedResource], _ session: SessionAtHand, integration: DecisionMaker.Partners, degradation: Degradation,
        context: CallContext
    ) async throws(Fault) -> Preauthorization {
        let isTempPass = session.isTempPass
        let limit = Catalogue.preflightMaxResources(integration.integration, integration.mvpd)
        guard isTempPass || resources.count <= limit else {
            throw Fault(.tooManyResources, "At most \(limit) resources may be asked for at once.")
        }
        var verdicts = resources.map { Self.blocked($0, degradation) }
        let open = resources.indices.filter { verdicts[$0] == nil }
        if !open.isEmpty {
            let answers =
                if isTempPass || degradation.permits(resources) {
                    open.map { _ in ResourceVerdict.permitted }
                } else {
                    try await ask(open.map { resources[$0] }, session, integration.mvpd, context)
                }
            for (position, answer) in zip(open, answers) { verdicts[position] = answer }
        }
        let complete = verdicts.compactMap(\.self)
        let isPartial = complete.contains { if case .unanswered = $0 { true } else { false } }
        metrics.preauthorized(isPartial: isPartial)
        return Preauthorization(resources: zip(resources, complete).map { $1.answer($0) }, isPartial: isPartial)
    }

    private static func blocked(_ resource: RequestedResource, _ degradation: Degradation) -> ResourceVerdict? {
        guard case .blocked(let rule) = degradation.effect(on: resource) else { return nil }
        return .denied(Denial(rule))
    }

    private func ask(
        _ resources: [RequestedResource], _ session: SessionAtHand, _ mvpd: Mvpd, _ context: CallContext
    ) async throws(Fault) -> [ResourceVerdict] {
        try session.requireIdentity()
        let verdicts =
            session.isBridged
            ? try await bridged.verdicts(resources, session, context)
            : try await preflight.verdicts(resources, session, mvpd: mvpd, context: context)
        let unanswered = Set(verdicts.compactMap { if case .unanswered(let code) = $0 { code.rawValue } else { nil } })
        if !unanswered.isEmpty {
            var fields = AuthorizationService.fields(session, context)
            fields["codes"] = "\(unanswered.sorted().joined(separator: ","))"
            logger.warning("preauthorization.unanswered", metadata: fields)
        }
        return verdicts
    }
}
