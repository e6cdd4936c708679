import Foundation

/// A decision request as another program would read it.
struct SentRequest: Decodable {
    struct Attribute: Decodable {
        var identifier: String
        var value: String
        var isIncluded: Bool?

        enum CodingKeys: String, CodingKey {
            case identifier = "AttributeId"
            case value = "Value"
            case isIncluded = "IncludeInResult"
        }
    }

    struct Category: Decodable {
        var attributes: [Attribute]

        enum CodingKeys: String, CodingKey { case attributes = "Attribute" }
    }

    var resource: [Category]
    var environment: [Category]

    enum CodingKeys: String, CodingKey {
        case resource = "Resource"
        case environment = "Environment"
    }

    private struct Document: Decodable {
        var request: SentRequest

        enum CodingKeys: String, CodingKey { case request = "Request" }
    }

    init(json: String) throws { self = try JSONDecoder().decode(Document.self, from: Data(json.utf8)).request }
}
