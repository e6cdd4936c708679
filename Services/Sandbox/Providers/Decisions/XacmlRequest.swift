internal import SandboxKit
internal import StrictJson

/// A question in the XACML 3.0 JSON profile (mvpd §4.1): who wants to watch what.
struct XacmlRequest: Sendable, Equatable {
    struct Resource: Sendable, Equatable {
        let identifier: String
        /// True when the answer repeats the identifier.
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

/// Questions in XML (mvpd §4.1).
extension XacmlRequest {
    /// - Parameter element: A `Request` of the XACML 2.0 context.
    /// - Throws: `SettingsFault` when it is not a valid request.
    init(xml element: XmlElement) throws(SettingsFault) {
        guard element.name == "Request", element.namespace == XmlNames.decisionContext else {
            throw SettingsFault(key: "Request", problem: "is missing")
        }
        let subjects = element.children("Subject", in: XmlNames.decisionContext).flatMap(Self.attributes)
        let plain = subjects.first { $0.identifier == XacmlNames.subjectID }?.value
        subject = plain ?? subjects.first { $0.identifier == XacmlNames.subjectToken }.flatMap { Self.decoded($0.value) }
        resources = element.children("Resource", in: XmlNames.decisionContext).flatMap { Self.resources(Self.attributes($0)) }
    }

    /// - Parameters:
    ///   - subject: The parameter `uuID`.
    ///   - document: The Media RSS in the parameter `mrss`.
    /// - Throws: `SettingsFault` when it is no such document.
    init(subject: String?, mediaRss document: [UInt8]) throws(SettingsFault) {
        let asked = try MediaRss(parsing: document)
        self.subject = subject
        resources = [Resource(identifier: asked.identifier, isIncludedInResult: true, channel: asked.channel, ratings: asked.ratings)]
    }

    private static func attributes(_ category: XmlElement) -> [(identifier: String, value: String)] {
        category.children("Attribute", in: XmlNames.decisionContext).flatMap { attribute in
            attribute.children("AttributeValue", in: XmlNames.decisionContext).compactMap { value in
                value.text.map { (attribute.attributes["AttributeId"] ?? "", $0) }
            }
        }
    }

    private static func resources(_ attributes: [(identifier: String, value: String)]) -> [Resource] {
        let channel = attributes.first { $0.identifier == XacmlNames.channel }?.value
        let ratings = attributes.filter { $0.identifier.hasPrefix(XacmlNames.rating) }.map(\.value)
        return attributes.filter { $0.identifier == XacmlNames.resourceID }.map {
            Resource(identifier: $0.value, isIncludedInResult: true, channel: channel, ratings: ratings)
        }
    }

    private static func decoded(_ text: String) -> String? { Base64.octets(text).map { String(decoding: $0, as: UTF8.self) } }
}

/// Attribute, obligation and status names of mvpd §4.1–4.2; `ocla` and `enviroment` are spelled as they are deployed.
enum XacmlNames {
    static let mediaType = "application/xacml+json"
    static let subjectID = "urn:oasis:names:tc:xacml:1.0:subject:subject-id"
    static let subjectToken = "urn:oasis:names:tc:xacml:1.0:subject:subject-token"
    static let accessSubject = "urn:oasis:names:tc:xacml:1.0:subject-category:access-subject"
    static let resourceID = "urn:oasis:names:tc:xacml:1.0:resource:resource-id"
    static let resourceCategory = "urn:oasis:names:tc:xacml:3.0:attribute-category:resource"
    static let channel = "urn:cablelabs:ocla:1.0:attribute:content:tv-network"
    static let rating = "urn:cablelabs:ocla:1.0:attribute:content:rating"
    static let reauthorize = "urn:cablelabs:olca:1.0:obligations:re-authz"
    static let restrict = "urn:tve:xacml:2.0:obligations:restrict-pc"
    static let upgrade = "urn:tve:xacml:2.0:obligations:upgrade"
    static let message = "urn:cablelabs:ocla:1.0:attribute:enviroment:buy-flow:message"
    static let reasonCode = "urn:cablelabs:olca:1.0:attribute:content:subscription:tv-network:reason-code"
    static let maxMPAA = "urn:cablelabs:ocla:1.0:attribute:content:ratings:maxMPAA"
    static let maxVChip = "urn:cablelabs:ocla:1.0:attribute:content:ratings:maxVCHIP"
    /// Ids of obligations around assignments; the ones that are deployed are not published.
    static let reasons = "urn:boxoffice:sandbox:obligations:reason"
    static let ratings = "urn:boxoffice:sandbox:obligations:ratings"
    static let string = "http://www.w3.org/2001/XMLSchema#string"
    static let integer = "http://www.w3.org/2001/XMLSchema#integer"
    static let ok = "urn:oasis:names:tc:xacml:1.0:status:ok"
    static let missingAttribute = "urn:oasis:names:tc:xacml:1.0:status:missing-attribute"
    static let processingError = "urn:oasis:names:tc:xacml:1.0:status:processing-error"
}
