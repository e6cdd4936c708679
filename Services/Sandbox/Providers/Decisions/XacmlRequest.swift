internal import StrictJson

/// A question in the XACML 3.0 JSON profile (mvpd §4.1): who wants to watch what.
struct XacmlRequest: Sendable, Equatable {
    struct Resource: Sendable, Equatable {
        let identifier: String
        /// Whether the answer repeats the identifier.
        let isIncludedInResult: Bool
        /// The channel when it is given apart from the identifier.
        let channel: String?
        /// Values of rating attributes.
        let ratings: [String]
    }

    /// nil when the request names no person.
    var subject: String?
    let resources: [Resource]

    /// - Throws: `SettingsFault` when the text is not a valid request. Keys of the profile that this policy does not need are ignored.
    init(json: [UInt8]) throws(SettingsFault) {
        let root: JsonNode
        do {
            root = try JsonDocument(parsing: json).root
        } catch {
            throw SettingsFault(key: "", problem: error.description)
        }
        guard let request = Self.member("Request", of: root) else { throw SettingsFault(key: "Request", problem: "is missing") }
        let subjects = try Self.attributes(Self.member("AccessSubject", of: request))
        subject = subjects.joined().first { $0.identifier == XacmlNames.subjectID }?.values.first
        var resources: [Resource] = []
        for attributes in try Self.attributes(Self.member("Resource", of: request)) { resources += Self.resources(attributes) }
        self.resources = resources
    }

    private struct Attribute {
        let identifier: String
        let values: [String]
        let isIncludedInResult: Bool
    }

    // A category is one object or a list of them; each entry of the list is an entity of its own.
    private static func attributes(_ category: JsonNode?) throws(SettingsFault) -> [[Attribute]] {
        var entities: [[Attribute]] = []
        for entity in list(category) {
            var attributes: [Attribute] = []
            for node in list(member("Attribute", of: entity)) {
                guard let identifier = member("AttributeId", of: node).flatMap(text) else {
                    throw SettingsFault(key: "Request", problem: "has an attribute without AttributeId")
                }
                let isIncluded = if case .bool(true)? = member("IncludeInResult", of: node)?.content { true } else { false }
                let values = list(member("Value", of: node)).compactMap(text)
                attributes.append(Attribute(identifier: identifier, values: values, isIncludedInResult: isIncluded))
            }
            entities.append(attributes)
        }
        return entities
    }

    private static func resources(_ attributes: [Attribute]) -> [Resource] {
        let channel = attributes.first { $0.identifier == XacmlNames.channel }?.values.first
        let ratings = attributes.filter { $0.identifier.hasPrefix(XacmlNames.rating) }.flatMap(\.values)
        return attributes.filter { $0.identifier == XacmlNames.resourceID }.flatMap { attribute in
            attribute.values.map {
                Resource(identifier: $0, isIncludedInResult: attribute.isIncludedInResult, channel: channel, ratings: ratings)
            }
        }
    }

    private static func member(_ name: String, of node: JsonNode) -> JsonNode? {
        guard case .object(let members) = node.content else { return nil }
        return members.first { $0.name == name }?.value
    }

    private static func list(_ node: JsonNode?) -> [JsonNode] {
        guard let node else { return [] }
        if case .array(let nodes) = node.content { return nodes }
        return [node]
    }

    private static func text(_ node: JsonNode) -> String? {
        if case .string(let text) = node.content { text } else { nil }
    }
}
