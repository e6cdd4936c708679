public import Clocks

extension ResponseVerifier {
    /// As `verify`, with every check told one by one.
    ///
    /// Steps 1, 4 and 31 are the caller's: they are marked as passed, as passed and as not checked.
    public func explain(
        _ response: UnverifiedResponse, expecting expected: ExpectedResponse, at now: Timestamp
    ) -> (report: ResponseReport, explanation: ResponseExplanation) {
        var verification = ResponseVerification(expecting: expected, at: now)
        let report = verification.report(on: response)
        let facts = verification.receivedRoot.map { MessageFacts(of: $0, decrypted: verification.decryptedRoot) }
        let explainer = Explainer(expected: expected, now: now, facts: facts ?? MessageFacts(), digestDiffers: report.digestDiffers)
        return (report, explainer.explain(report))
    }
}
