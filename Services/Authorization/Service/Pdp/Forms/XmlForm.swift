internal import SamlProfile

/// A bare request of XACML 2.0 (mvpd §4.1).
struct XmlForm: DecisionForm {
    static let mediaType = "text/xml; charset=utf-8"

    let request: DecisionRequest

    func message() throws(DecisionPointProblem) -> DecisionMessage {
        DecisionMessage(
            headers: [.init("content-type", Self.mediaType), .init("accept", "application/xacml+xml, application/xml, text/xml")],
            body: Array(request.document.utf8))
    }

    func answer(_ answer: DecisionTransportAnswer) throws(DecisionPointProblem) -> DecisionAnswer { try Self.bare(xml: answer.body) }
}
