/// A request in XACML 2.0: who wants to do what with which resources (mvpd §4.1).
public struct DecisionRequest: Hashable, Sendable {
    /// One attribute with one value.
    public struct Attribute: Hashable, Sendable {
        /// The data type of ordinary text.
        public static let string = "http://www.w3.org/2001/XMLSchema#string"

        public var identifier: String
        public var dataType: String
        public var value: String

        /// - Parameters:
        ///   - identifier: `AttributeId`.
        ///   - value: The only value.
        ///   - dataType: URI of the XACML data type.
        public init(_ identifier: String, _ value: String, dataType: String = Attribute.string) {
            self.identifier = identifier
            self.value = value
            self.dataType = dataType
        }
    }

    /// Empty when an access token identifies the person.
    public var subject: [Attribute]
    /// One list for each resource.
    public var resources: [[Attribute]]
    public var action: [Attribute]
    public var environment: [Attribute]

    /// - Parameters:
    ///   - subject: Empty when an access token names the person.
    ///   - resources: One list of attributes for each resource.
    ///   - action: The action that the person wants.
    ///   - environment: The circumstances, such as the device's address.
    public init(subject: [Attribute], resources: [[Attribute]], action: [Attribute], environment: [Attribute]) {
        self.subject = subject
        self.resources = resources
        self.action = action
        self.environment = environment
    }

    /// The bare request as an XML document.
    public var document: String {
        var writer = MarkupWriter()
        write(to: &writer)
        return writer.text
    }

    func write(to writer: inout MarkupWriter) {
        writer.element("x:Request", [("xmlns:x", "\(Namespaces.decisionContext)")]) { request in
            if !subject.isEmpty { Self.write(subject, as: "x:Subject", [("SubjectCategory", Self.accessSubject)], to: &request) }
            for resource in resources { Self.write(resource, as: "x:Resource", to: &request) }
            Self.write(action, as: "x:Action", to: &request)
            Self.write(environment, as: "x:Environment", to: &request)
        }
    }

    private static let accessSubject = "urn:oasis:names:tc:xacml:1.0:subject-category:access-subject"

    private static func write(_ attributes: [Attribute], as name: String, _ own: [(String, String?)] = [], to writer: inout MarkupWriter) {
        writer.element(name, own) { category in
            for attribute in attributes {
                category.element("x:Attribute", [("AttributeId", attribute.identifier), ("DataType", attribute.dataType)]) {
                    $0.element("x:AttributeValue", text: attribute.value)
                }
            }
        }
    }
}
