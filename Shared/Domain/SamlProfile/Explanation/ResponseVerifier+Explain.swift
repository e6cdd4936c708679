public import Clocks

extension ResponseVerifier {
    /// Verifies a response as `verify` does, and describes the outcome of every check. After one that failed, it also describes the later checks that
    /// do not depend on it. That costs only a response that is refused.
    ///
    /// Steps 1, 4 and 31 belong to the caller: 1 and 4 are marked as passed, 31 as not checked.
    /// - Parameters:
    ///   - response: The message as it arrived.
    ///   - expected: The demands of the pending request and the endpoint's record.
    ///   - now: The time of day.
    public func explain(
        _ response: UnverifiedResponse, expecting expected: ExpectedResponse, at now: Timestamp
    ) -> (report: ResponseReport, explanation: ResponseExplanation) {
        var verification = ResponseVerification(expecting: expected, at: now)
        let report = verification.report(on: response)
        let facts = verification.receivedRoot.map {
            MessageFacts(of: $0, decrypted: verification.decryptedRoot, userIDAttribute: expected.guidAttributeName)
        }
        let survey: ResponseSurvey? = if case .accepted = report.verdict { nil } else { ResponseSurvey(after: verification) }
        let explainer = Explainer(
            expected: expected, now: now, facts: facts ?? MessageFacts(), digestDiffers: report.digestDiffers || survey?.digestDiffers == true,
            others: survey?.findings ?? [:])
        return (report, explainer.explain(report))
    }
}
