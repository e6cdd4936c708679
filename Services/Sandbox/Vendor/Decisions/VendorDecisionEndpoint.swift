/// Authorization and preauthorization (rest-v2 §2.9, §2.10).
struct UpstreamDecisionEndpoint: Sendable {
    let memory: UpstreamMemory
    let making: ProfileMaking
    let tokens: UpstreamMediaTokens

    func answer(_ call: UpstreamCall) throws -> UpstreamAnswer {
        let (question, decisions) = try memory.access { state in
            let question = try DecisionQuestion(call, state)
            return (question, try state.decide(question, making))
        }
        let body = DecisionsBody(
            decisions: try decisions.map { decision in
                var written = DecisionsBody.Decision(decision, question)
                if !question.isPreauthorization, decision.problem == nil { written.token = try token(decision, question) }
                return written
            })
        return try .json(body, outcome: decisions.map { $0.problem?.code ?? "permit" }.joined(separator: ","))
    }

    private func token(_ decision: UpstreamDecision, _ question: DecisionQuestion) throws -> UpstreamMediaTokens.Token {
        try tokens.issue(
            UpstreamMediaTokens.Play(
                sessionGUID: decision.sessionGUID, serviceProvider: question.serviceProvider, mvpd: question.mvpd.id,
                proxyMvpd: question.mvpd.proxyMvpd, resource: decision.resource, life: question.integration.mediaTokenSeconds), at: question.now)
    }
}
