internal import BridgeClient
internal import ContractRuntime
internal import Contracts
internal import Faults

/// The resources, among several, that an upstream would permit (bridge §9.5).
struct UpstreamPreflight: Sendable {
    let sessions: any Sessions

    /// - Returns: A verdict for each resource, in order; what could not be asked about is unanswered.
    /// - Throws: A fault that nobody is signed in any more; `unavailable` where nothing could be asked about.
    func verdicts(_ resources: [RequestedResource], _ session: SessionAtHand, _ context: CallContext) async throws(Fault) -> [ResourceVerdict] {
        let request = AskUpstreamRequest(
            call: session.call, sessionID: session.session.id, resources: resources.map(\.text), isPreauthorization: true)
        let answer: UpstreamDecisions
        do {
            answer = try await sessions.askUpstream(request, context: context)
        } catch {
            throw Fault.unexpected(error)
        }
        let known = Dictionary(texts: answer.decisions.map { ($0.resource, $0) }, uniquingKeysWith: { first, _ in first })
        var verdicts: [ResourceVerdict] = []
        for resource in resources {
            guard let decision = known[OctetText(resource.text)] else {
                verdicts.append(.unanswered(.networkReceivedError))
                continue
            }
            verdicts.append(try Self.verdict(decision))
        }
        return verdicts
    }

    private static func verdict(_ decision: UpstreamDecision) throws(Fault) -> ResourceVerdict {
        if decision.isPermitted { return .permitted }
        let fault = decision.fault
        switch (fault.code, BridgeMeaning(decision.refusal)) {
        // A trial that is over says no to its resources (bridge §12.1).
        case (_, .trial): return .denied(Denial(code: fault.code, details: fault.details))
        // The question has one resource, so its error is the call's.
        case (.authenticationSessionMissing, _), (.authenticationSessionExpired, _), (.authenticationSessionInvalidated, _): throw fault
        case (.networkReceivedError, _), (.networkConnectionTimeout, _), (.maximumExecutionTimeExceeded, _): return .unanswered(fault.code)
        default: return .denied(Denial(code: fault.code, details: fault.details))
        }
    }
}
