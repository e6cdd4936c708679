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

    /// A list, or its only member in place of a list, as many servers write it.
    struct Several<Element: Decodable & Sendable>: Decodable, Sendable {
        let elements: [Element]

        init(from decoder: any Decoder) throws {
            // The form is known before its members are read, so that a problem names the member.
            if (try? decoder.unkeyedContainer()) != nil { elements = try [Element](from: decoder) } else { elements = [try Element(from: decoder)] }
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
        let attributes: Several<Attribute>?

        enum CodingKeys: String, CodingKey { case attributes = "Attribute" }
    }

    struct Obligation: Decodable, Sendable {
        let identifier: String
        let assignments: Several<Attribute>?
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
        let obligations: Several<Obligation>?
        let categories: Several<Category>?

        enum CodingKeys: String, CodingKey {
            case decision = "Decision"
            case status = "Status"
            case obligations = "Obligations"
            case categories = "Category"
        }
    }

    let results: Several<Result>

    enum CodingKeys: String, CodingKey { case results = "Response" }

    /// - Throws: `DecisionPointError` that names the member, when the text is no such answer.
    init(json: [UInt8]) throws(DecisionPointError) {
        do {
            self = try JSONDecoder().decode(XacmlJsonResponse.self, from: Data(json))
        } catch let error as DecodingError {
            throw DecisionPointError("the answer is no XACML response: \(Self.problem(error))")
        } catch {
            throw DecisionPointError("the answer is no XACML response: it cannot be read")
        }
    }

    /// - Returns: The member's path, and what is wrong with it; nothing of its value.
    private static func problem(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): return "\(path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): return "\(path(context.codingPath)) is null"
        case .typeMismatch(_, let context): return "\(path(context.codingPath)) is of another type than the JSON profile of XACML 3.0 has there"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: return "the text is no JSON"
        case .dataCorrupted(let context): return "\(path(context.codingPath)) cannot be read"
        @unknown default: return "it cannot be read"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        guard !keys.isEmpty else { return "the whole" }
        return keys.reduce(into: "") { path, key in
            path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + key.stringValue
        }
    }

    /// The results in the words of every form.
    func decisions(_ names: XacmlVocabulary) -> [DecisionResult] {
        results.elements.map { result in
            let attributes = (result.categories?.elements ?? []).flatMap { $0.attributes?.elements ?? [] }
            let obligations = (result.obligations?.elements ?? []).map { obligation in
                DecisionResult.Obligation(
                    identifier: obligation.identifier, fulfillOn: obligation.fulfillOn,
                    assignments: (obligation.assignments?.elements ?? []).map { .init($0.identifier, $0.value?.texts ?? []) })
            }
            return DecisionResult(
                resourceIDs: attributes.filter { $0.identifier == names.resourceID }.flatMap { $0.value?.texts ?? [] },
                decision: result.decision, statusMessage: result.status?.message, obligations: obligations)
        }
    }
}
