internal import Clocks

/// Turns a report into plain text.
struct Explainer {
    let expected: ExpectedResponse
    let now: Timestamp
    let facts: MessageFacts
    let digestDiffers: Bool
    /// How the checks of a refused message would go, each by itself.
    let others: [Check: ResponseSurvey.Finding]

    func explain(_ report: ResponseReport) -> ResponseExplanation {
        var reason = ""
        if case .rejected(let rejection) = report.verdict { reason = rejection.reason.rawValue }
        let entries = Dictionary(grouping: report.trace.entries, by: \.check)
        let failed = report.trace.entries.last { !$0.passed }?.check
        let steps = Check.allCases.map { check in step(check, entries[check] ?? [], failed: failed, reason: reason) }
        return ResponseExplanation(steps: steps, facts: FactList(facts, pinned: expected.pinnedCertificates).all)
    }

    private func step(_ check: Check, _ entries: [CheckTrace.Entry], failed: Check?, reason: String) -> ResponseExplanation.Step {
        if let failure = entries.last(where: { !$0.passed }) {
            return ResponseExplanation.Step(
                check: check, outcome: .failed, reason: reason, explanation: failure.note, hint: hint(for: check, reason))
        }
        if case .failed(let rejection) = others[check] {
            let reason = rejection.reason.rawValue
            return ResponseExplanation.Step(
                check: check, outcome: .failed, reason: reason, explanation: rejection.explanation, hint: hint(for: check, reason))
        }
        if !entries.isEmpty || check == .parameters || check == .pendingRequest {
            return ResponseExplanation.Step(check: check, outcome: .passed)
        }
        switch others[check] {
        case .passed: return ResponseExplanation.Step(check: check, outcome: .passed, explanation: unvouched(failed))
        case .leftOut(let cause):
            return ResponseExplanation.Step(check: check, outcome: .notReached, explanation: ResponseExplanation.notChecked(because: cause))
        case .failed, nil: break
        }
        // Nobody remembers a refused message, so this check of it was not made.
        if let failed, check == .replay {
            return ResponseExplanation.Step(check: check, outcome: .notReached, explanation: ResponseExplanation.notChecked(because: failed))
        }
        if check == .replay { return ResponseExplanation.Step(check: check, outcome: .notChecked) }
        return ResponseExplanation.Step(check: check, outcome: .notNeeded, explanation: absence(of: check))
    }

    /// Said of a check that passes on content whose signature did not hold.
    private func unvouched(_ failed: Check?) -> String {
        guard let failed, failed.step <= Check.digestedOctets.step else { return "" }
        return "as the message says, whose signature was not accepted"
    }

    private func absence(of check: Check) -> String {
        switch check {
        case .decryption: "the assertion is not encrypted"
        case .responseIssuer: "the response names no Issuer of its own"
        case .reference, .transforms, .noObjects, .algorithms, .pinnedKey, .signature, .digestedOctets: "nothing is signed"
        default: ""
        }
    }
}
