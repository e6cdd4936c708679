internal import FoundationEssentials
internal import SamlProfile

/// An answer in the JSON profile of XACML 3.0 (mvpd §4.2), as far as it is used. Members that are not named here are passed over.
struct XacmlJsonResponse: Decodable, Sendable {
    /// One or more texts; numbers and truth values become text.
    struct Value: Decodable, Hashable, Sendable {
        let texts: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                texts = [text]
            } else if let number = try? container.decode(Int64.self) {
                texts = [String(number)]
            } else if let truth = try? container.decode(Bool.self) {
                texts = [String(truth)]
            } else if let list = try? container.decode([String].self) {
                texts = list
            } else {
                texts = []
            }
        }
    }

    struct Attribute: Decodable, Hashable, Sendable {
        let identifier: String
        let value: Value?

        enum CodingKeys: String, CodingKey {
            case identifier = "AttributeId"
            case value = "Value"
        }
    }

    struct Category: Decodable, Sendable {
        let attributes: [Attribute]?

        enum CodingKeys: String, CodingKey { case attributes = "Attribute" }
    }

    struct Obligation: Decodable, Sendable {
        let identifier: String
        let assignments: [Attribute]?
        let fulfillOn: String?

        enum CodingKeys: String, CodingKey {
            case identifier = "Id"
            case assignments = "AttributeAssignment"
            case fulfillOn = "FulfillOn"
        }
    }

    struct Status: Decodable, Sendable {
        let message: String?

        enum CodingKeys: String, CodingKey { case message = "StatusMessage" }
    }

    struct Result: Decodable, Sendable {
        let decision: String
        let status: Status?
        let obligations: [Obligation]?
        let categories: [Category]?

        enum CodingKeys: String, CodingKey {
            case decision = "Decision"
            case status = "Status"
            case obligations = "Obligations"
            case categories = "Category"
        }
    }

    let results: [Result]

    enum CodingKeys: String, CodingKey { case results = "Response" }

    /// - Throws: `DecodingError` when the text is no such answer.
    init(json: [UInt8]) throws { self = try JSONDecoder().decode(XacmlJsonResponse.self, from: Data(json)) }

    /// The results in the words of every form.
    func decisions(_ names: XacmlVocabulary) -> [DecisionResult] {
        results.map { result in
            let attributes = (result.categories ?? []).flatMap { $0.attributes ?? [] }
            let obligations = (result.obligations ?? []).map { obligation in
                DecisionResult.Obligation(
                    identifier: obligation.identifier, fulfillOn: obligation.fulfillOn,
                    assignments: (obligation.assignments ?? []).map { .init($0.identifier, $0.value?.texts ?? []) })
            }
            return DecisionResult(
                resourceIDs: attributes.filter { $0.identifier == names.resourceID }.flatMap { $0.value?.texts ?? [] },
                decision: result.decision, statusMessage: result.status?.message, obligations: obligations)
        }
    }
}
