internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging

/// Which of several resources may be watched (rest-v1 §3.16). Informative: keeps nothing.
struct Preauthorizer: Sendable {
    let preflight: Preflight
    let bridged: BridgedPreflight
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
