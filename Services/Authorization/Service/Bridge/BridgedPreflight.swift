internal import ContractRuntime
internal import Contracts
internal import Faults

/// Which of several resources an upstream would permit (bridge §9.5).
struct BridgedPreflight: Sendable {
    let sessions: any Sessions

    /// - Returns: A verdict for each resource, in order; what could not be asked about is unanswered.
    /// - Throws: That nobody is signed in any more; `unavailable` where nothing could be asked about.
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
        switch fault.code {
        // Of one resource, and so of the call.
        case .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated: throw fault
        case .networkReceivedError, .networkConnectionTimeout, .maximumExecutionTimeExceeded: return .unanswered(fault.code)
        default: return .denied(Denial(code: fault.code, details: fault.details))
        }
    }
}
