internal import OutboundHttp
internal import SamlProfile

/// How a question and its answer look in one protocol (mvpd §4.1, §4.2).
protocol DecisionForm: Sendable {
    /// - Parameter url: The decision point's address.
    /// - Throws: `DecisionPointProblem` when the question cannot be put in this form; nobody was asked then.
    func request(to url: String) throws(DecisionPointProblem) -> OutboundRequest

    /// - Throws: `DecisionPointProblem` when the answer cannot be used or is not to be believed.
    func answer(_ answer: OutboundAnswer) throws(DecisionPointProblem) -> DecisionAnswer
}

extension DecisionForm {
    static func bare(xml octets: [UInt8]) throws(DecisionPointProblem) -> DecisionAnswer {
        do {
            return DecisionAnswer(results: try DecisionContext.results(ofBare: octets))
        } catch {
            throw DecisionPointProblem("the answer is no XACML response: \(error)")
        }
    }

    static func bare(json octets: [UInt8], _ names: XacmlVocabulary) throws(DecisionPointProblem) -> DecisionAnswer {
        DecisionAnswer(results: try XacmlJsonResponse(json: octets).decisions(names))
    }
}
