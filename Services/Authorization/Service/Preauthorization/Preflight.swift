internal import Contracts
internal import Faults

/// Which of several resources an MVPD would permit, by the method that its record names (mvpd §4.4).
struct Preflight: Sendable {
    /// Questions under way at once when each resource is asked for by itself.
    static let mostInFlight = 5

    let client: PolicyDecisionClient

    /// - Returns: A verdict for each resource, in order. An MVPD that cannot be asked leaves its resources unanswered.
    /// - Throws: Faults that no MVPD is to blame for: `cancelled`, `internal`, `unimplemented`.
    func verdicts(
        _ resources: [RequestedResource], _ session: SessionAtHand, mvpd: Mvpd, deadline: ContinuousClock.Instant?
    ) async throws(Fault) -> [ResourceVerdict] {
        let endpoint = mvpd.authorization ?? AuthorizationEndpoint()
        if endpoint.preflightStrategy == .lineup { return Self.lineup(resources, session) }
        switch endpoint.protocol {
        case .none: return resources.map { _ in .permitted }
        case .xacmlJson: break
        default: throw Fault(.unimplemented, "The MVPD's authorization protocol is not supported.")
        }
        let queries = resources.map { DecisionQuery(session, $0) }
        let batches = endpoint.preflightStrategy == .forkJoin ? queries.indices.map { [$0] } : Self.batches(queries, endpoint)
        let end = min(ContinuousClock.now.advanced(by: try DecisionEndpoint(endpoint).totalTimeout), deadline)
        return try await ask(queries, in: batches, at: endpoint, deadline: end)
    }

    /// The channels that the MVPD sent at sign-in; letter case does not count (rest-v1 §3.16).
    private static func lineup(_ resources: [RequestedResource], _ session: SessionAtHand) -> [ResourceVerdict] {
        let channels = Set(session.attributes.filter { $0.key == "channelID" }.flatMap(\.values).map { $0.lowercased() })
        return resources.map { channels.contains($0.channel.lowercased()) ? .permitted : .denied(Denial(code: .authorizationDeniedByMvpd)) }
    }

    /// Positions of the questions that one call may carry: answers are told apart by their ids, so questions of one id that differ in
    /// anything else (a rating) go into different calls.
    private static func batches(_ queries: [DecisionQuery], _ endpoint: AuthorizationEndpoint) -> [[Int]] {
        var batches: [(positions: [Int], questions: [String: [XacmlJsonRequest.Attribute]])] = []
        for (position, query) in queries.enumerated() {
            let (id, attributes) = (query.resourceID(endpoint), query.resourceAttributes(endpoint))
            let fitting = batches.firstIndex { $0.questions[id] == nil || $0.questions[id] == attributes }
            if let fitting {
                batches[fitting].positions.append(position)
                batches[fitting].questions[id] = attributes
            } else {
                batches.append(([position], [id: attributes]))
            }
        }
        return batches.map(\.positions)
    }

    private func ask(
        _ queries: [DecisionQuery], in batches: [[Int]], at endpoint: AuthorizationEndpoint, deadline: ContinuousClock.Instant
    ) async throws(Fault) -> [ResourceVerdict] {
        typealias Answer = (positions: [Int], result: Result<[String: MvpdDecision], Fault>)
        var verdicts = [ResourceVerdict](repeating: .unanswered(.networkReceivedError), count: queries.count)
        var failure: Fault?
        await withTaskGroup(of: Answer.self) { group in
            var waiting = batches[...]
            func startNext() {
                guard let positions = waiting.popFirst() else { return }
                group.addTask { (positions, await decide(positions.map { queries[$0] }, at: endpoint, deadline: deadline)) }
            }
            for _ in 0..<Self.mostInFlight { startNext() }
            for await answer in group {
                startNext()
                switch answer.result {
                case .success(let decisions):
                    for position in answer.positions {
                        guard let decision = decisions[queries[position].resourceID(endpoint)] else { continue }
                        verdicts[position] = ResourceVerdict(decision)
                    }
                case .failure(let fault) where Self.isTheMvpds(fault.code):
                    for position in answer.positions { verdicts[position] = .unanswered(fault.code) }
                case .failure(let fault): failure = fault
                }
            }
        }
        if let failure { throw failure }
        return verdicts
    }

    private func decide(
        _ queries: [DecisionQuery], at endpoint: AuthorizationEndpoint, deadline: ContinuousClock.Instant
    ) async -> Result<[String: MvpdDecision], Fault> {
        do throws(Fault) {
            return .success(try await client.decideEach(queries, at: endpoint, deadline: deadline))
        } catch {
            return .failure(error)
        }
    }

    private static func isTheMvpds(_ code: Fault.Code) -> Bool {
        [.networkConnectionTimeout, .networkReceivedError, .maximumExecutionTimeExceeded].contains(code)
    }
}

private func min(_ moment: ContinuousClock.Instant, _ other: ContinuousClock.Instant?) -> ContinuousClock.Instant {
    other.map { Swift.min(moment, $0) } ?? moment
}
