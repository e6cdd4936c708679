/// Attribute and obligation ids of mvpd §4.1 and §4.2; `ocla` and `enviroment` are spelled as they are deployed.
enum XacmlNames {
    static let mediaType = "application/xacml+json"

    static let subjectID = "urn:oasis:names:tc:xacml:1.0:subject:subject-id"
    static let resourceID = "urn:oasis:names:tc:xacml:1.0:resource:resource-id"
    static let actionID = "urn:oasis:names:tc:xacml:1.0:action:action-id"
    static let view = "VIEW"
    static let address = "urn:oasis:names:tc:xacml:1.0:subject:authn-locality:ip-address"
    static let tvNetwork = "urn:cablelabs:ocla:1.0:attribute:content:tv-network"
    static let namespace = "urn:cablelabs:ocla:1.0:attribute:content:id:namespace"
    static let title = "urn:cablelabs:ocla:1.0:attribute:content:title"
    static let rating = "urn:cablelabs:ocla:1.0:attribute:content:rating"

    static let log = "urn:cablelabs:olca:1.0:obligations:log"
    static let reauthorize = "urn:cablelabs:olca:1.0:obligations:re-authz"
    static let restrictParentalControl = "urn:tve:xacml:2.0:obligations:restrict-pc"
    static let upgrade = "urn:tve:xacml:2.0:obligations:upgrade"

    static let maxMPAA = "urn:cablelabs:ocla:1.0:attribute:content:ratings:maxMPAA"
    static let maxVChip = "urn:cablelabs:ocla:1.0:attribute:content:ratings:maxVCHIP"
    static let message = "urn:cablelabs:ocla:1.0:attribute:enviroment:buy-flow:message"
    static let reasonCode = "urn:cablelabs:olca:1.0:attribute:content:subscription:tv-network:reason-code"

    static let obligations: Set = [log, reauthorize, restrictParentalControl, upgrade]
    static let ratings: [String: MvpdDecision.Rating.Scheme] = [maxMPAA: .mpaa, maxVChip: .vChip]
    static let assignments: Set = [maxMPAA, maxVChip, message, reasonCode]
}
