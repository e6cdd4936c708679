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
        let root: XmlElement
        do {
            root = try XmlElement(parsing: document)
        } catch {
            throw SettingsFault(key: "mrss", problem: "is no XML: \(error.reason)")
        }
        guard root.name == "rss", let channel = root.only("channel", in: ""), let title = channel.only("title", in: "")?.text else {
            throw SettingsFault(key: "mrss", problem: "has no channel with a title")
        }
        let item = channel.only("item", in: "")
        let ratings = [item, channel].compactMap { $0 }.flatMap(\.children).filter { $0.name == "rating" }.compactMap(\.text)
        self.subject = subject
        resources = [
            Resource(
                identifier: item?.only("guid", in: "")?.text ?? title, isIncludedInResult: true, channel: title, ratings: Array(ratings.prefix(1)))
        ]
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
