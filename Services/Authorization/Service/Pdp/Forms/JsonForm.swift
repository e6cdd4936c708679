internal import SamlProfile

/// The JSON profile of XACML 3.0 (mvpd §4.1).
struct JsonForm: DecisionForm {
    static let mediaType = "application/xacml+json"

    let request: DecisionRequest
    let names: XacmlVocabulary

    func message() throws(DecisionPointProblem) -> DecisionMessage {
        do {
            let body = try XacmlJsonRequest(request, including: names.resourceID).serialized()
            return DecisionMessage(headers: [.init("content-type", Self.mediaType), .init("accept", Self.mediaType)], body: body)
        } catch {
            throw DecisionPointProblem("the question cannot be encoded")
        }
    }

    func answer(_ answer: DecisionTransportAnswer) throws(DecisionPointProblem) -> DecisionAnswer { try Self.bare(json: answer.body, names) }
}
