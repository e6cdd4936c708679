internal import Clocks
internal import OutboundHttp
internal import SamlProfile

/// XACML 2.0 inside SAML inside SOAP 1.1 (mvpd §4.1, §4.2).
struct SoapForm: DecisionForm {
    /// SAML bindings §3.2.2.1.
    private static let action = "\"http://www.oasis-open.org/committees/security\""

    let query: AuthorizationDecisionQuery
    /// nil: the query is not signed.
    let key: SamlProfile.SigningKey?
    let expected: ExpectedDecision
    let clock: any WallClock

    func request(to url: String) throws(DecisionPointProblem) -> OutboundRequest {
        do {
            let body = Array(try query.envelope(signedWith: key).utf8)
            return OutboundRequest(
                .post, url, headers: [("content-type", XmlForm.mediaType), ("accept", "text/xml"), ("soapaction", Self.action)], body: body)
        } catch {
            throw DecisionPointProblem(error.description)
        }
    }

    func answer(_ answer: OutboundAnswer) throws(DecisionPointProblem) -> DecisionAnswer {
        do {
            let verified = try DecisionVerifier().verify(answer.body, expecting: expected, at: clock.now())
            return DecisionAnswer(results: verified.results, validUntil: verified.notOnOrAfter)
        } catch {
            throw DecisionPointProblem("the answer is refused: \(error)")
        }
    }
}
