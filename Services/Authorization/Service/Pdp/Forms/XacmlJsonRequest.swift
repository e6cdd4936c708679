internal import FoundationEssentials
internal import SamlProfile

/// A request in the JSON profile of XACML 3.0 (mvpd §4.1).
struct XacmlJsonRequest: Encodable, Sendable {
    struct Attribute: Encodable, Sendable {
        let identifier: String
        let value: String
        let dataType: String?
        let includeInResult: Bool?

        enum CodingKeys: String, CodingKey {
            case identifier = "AttributeId"
            case value = "Value"
            case dataType = "DataType"
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

    /// - Parameter included: The attribute that results are to repeat.
    init(_ request: DecisionRequest, including included: String) {
        func categories(_ attributes: [DecisionRequest.Attribute]) -> [Category] {
            let list = attributes.map { attribute in
                Attribute(
                    identifier: attribute.identifier, value: attribute.value,
                    dataType: attribute.dataType == DecisionRequest.Attribute.string ? nil : attribute.dataType,
                    includeInResult: attribute.identifier == included ? true : nil)
            }
            return list.isEmpty ? [] : [Category(attributes: list)]
        }
        self.request = Content(
            accessSubject: categories(request.subject), action: categories(request.action), resource: request.resources.flatMap(categories),
            environment: categories(request.environment))
    }

    /// - Throws: An encoder's error; strings and booleans alone always encode.
    func serialized() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}
