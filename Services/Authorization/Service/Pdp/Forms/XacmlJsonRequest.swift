internal import Contracts
internal import FoundationEssentials

/// A request in the JSON profile of XACML 3.0 (mvpd §4.1).
struct XacmlJsonRequest: Encodable, Sendable {
    struct Attribute: Encodable, Hashable, Sendable {
        let identifier: String
        let value: String
        let includeInResult: Bool?

        init(_ identifier: String, _ value: String, includeInResult: Bool? = nil) {
            self.identifier = identifier
            self.value = value
            self.includeInResult = includeInResult
        }

        enum CodingKeys: String, CodingKey {
            case identifier = "AttributeId"
            case value = "Value"
            case includeInResult = "IncludeInResult"
        }
    }

    struct Category: Encodable, Sendable {
        let attributes: [Attribute]

        enum CodingKeys: String, CodingKey { case attributes = "Attribute" }
    }

    struct Content: Encodable, Sendable {
        let accessSubject: [Category]
        let action: [Category]
        let resource: [Category]
        let environment: [Category]

        enum CodingKeys: String, CodingKey {
            case accessSubject = "AccessSubject"
            case action = "Action"
            case resource = "Resource"
            case environment = "Environment"
        }
    }

    let request: Content

    enum CodingKeys: String, CodingKey { case request = "Request" }

    /// - Parameter others: Further questions about the same subject and device, of other resource ids; each is a category of its own.
    init(_ query: DecisionQuery, and others: some Sequence<DecisionQuery> = [], endpoint: AuthorizationEndpoint) {
        let environment = query.environmentAttributes(endpoint)
        request = Content(
            accessSubject: [Category(attributes: [Attribute(XacmlNames.subjectID, query.subject)])],
            action: [Category(attributes: [Attribute(XacmlNames.actionID, XacmlNames.view)])],
            resource: ([query] + others).map { Category(attributes: $0.resourceAttributes(endpoint)) },
            environment: environment.isEmpty ? [] : [Category(attributes: environment)])
    }

    /// - Throws: An encoder's error; strings and booleans alone always encode.
    func serialized() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}
