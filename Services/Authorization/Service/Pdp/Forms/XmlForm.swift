internal import OutboundHttp
internal import SamlProfile

/// A bare request of XACML 2.0 (mvpd §4.1).
struct XmlForm: DecisionForm {
    static let mediaType = "text/xml; charset=utf-8"

    let question: DecisionRequest

    func request(to url: String) throws(DecisionPointProblem) -> OutboundRequest {
        OutboundRequest(
            .post, url, headers: [("content-type", Self.mediaType), ("accept", "application/xacml+xml, application/xml, text/xml")],
            body: Array(question.document.utf8))
    }

    func answer(_ answer: OutboundAnswer) throws(DecisionPointProblem) -> DecisionAnswer { try Self.bare(xml: answer.body) }
}
