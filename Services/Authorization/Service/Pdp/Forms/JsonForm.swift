internal import OutboundHttp
internal import SamlProfile

/// The JSON profile of XACML 3.0 (mvpd §4.1).
struct JsonForm: DecisionForm {
    static let mediaType = "application/xacml+json"

    let question: DecisionRequest
    let names: XacmlVocabulary

    func request(to url: String) throws(DecisionPointProblem) -> OutboundRequest {
        do {
            let body = try XacmlJsonRequest(question, including: names.resourceID).serialized()
            return OutboundRequest(.post, url, headers: [("content-type", Self.mediaType), ("accept", Self.mediaType)], body: body)
        } catch {
            throw DecisionPointProblem("the question cannot be encoded")
        }
    }

    func answer(_ answer: OutboundAnswer) throws(DecisionPointProblem) -> DecisionAnswer { try Self.bare(json: answer.body, names) }
}
