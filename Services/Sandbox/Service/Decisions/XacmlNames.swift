/// Attribute, obligation and status names of mvpd §4.1–4.2; `ocla` and `enviroment` are spelled as they are deployed.
enum XacmlNames {
    static let mediaType = "application/xacml+json"
    static let subjectID = "urn:oasis:names:tc:xacml:1.0:subject:subject-id"
    static let accessSubject = "urn:oasis:names:tc:xacml:1.0:subject-category:access-subject"
    static let resourceID = "urn:oasis:names:tc:xacml:1.0:resource:resource-id"
    static let resourceCategory = "urn:oasis:names:tc:xacml:3.0:attribute-category:resource"
    static let channel = "urn:cablelabs:ocla:1.0:attribute:content:tv-network"
    static let rating = "urn:cablelabs:ocla:1.0:attribute:content:rating"
    static let reauthorize = "urn:cablelabs:olca:1.0:obligations:re-authz"
    static let restrict = "urn:tve:xacml:2.0:obligations:restrict-pc"
    static let upgrade = "urn:tve:xacml:2.0:obligations:upgrade"
    static let message = "urn:cablelabs:ocla:1.0:attribute:enviroment:buy-flow:message"
    static let string = "http://www.w3.org/2001/XMLSchema#string"
    static let integer = "http://www.w3.org/2001/XMLSchema#integer"
    static let ok = "urn:oasis:names:tc:xacml:1.0:status:ok"
    static let missingAttribute = "urn:oasis:names:tc:xacml:1.0:status:missing-attribute"
    static let processingError = "urn:oasis:names:tc:xacml:1.0:status:processing-error"
}
