internal import Contracts
internal import SamlProfile

/// The attribute and obligation ids of one decision point: its own, else those of mvpd §4.1 and §4.2; `ocla` and `enviroment` are spelled
/// as they are deployed.
struct XacmlVocabulary: Hashable, Sendable {
    let subjectID: String
    let resourceID: String
    let tvNetwork: String
    let namespace: String
    let title: String
    let rating: String
    let actionID: String

    let log: String
    let reauthorize: String
    let restrictParentalControl: String
    let upgrade: String

    let maxMPAA: String
    let maxVChip: String
    let message: String
    let reasonCode: String

    /// - Parameter subjectAsToken: Another id is usual for the subject then.
    init(_ names: DecisionNames = DecisionNames(), subjectAsToken: Bool = false) {
        func chosen(_ own: String, _ standard: String) -> String { own.isEmpty ? standard : own }
        let (content, olca) = ("urn:cablelabs:ocla:1.0:attribute:content:", "urn:cablelabs:olca:1.0:")
        subjectID = chosen(names.subjectID, Self.subject + (subjectAsToken ? "subject-token" : "subject-id"))
        resourceID = chosen(names.resourceID, "urn:oasis:names:tc:xacml:1.0:resource:resource-id")
        tvNetwork = chosen(names.tvNetwork, content + "tv-network")
        namespace = chosen(names.contentNamespace, content + "id:namespace")
        title = chosen(names.title, content + "title")
        rating = chosen(names.rating, content + "rating")
        actionID = chosen(names.actionID, "urn:oasis:names:tc:xacml:1.0:action:action-id")
        log = chosen(names.logObligation, olca + "obligations:log")
        reauthorize = chosen(names.reauthorizeObligation, olca + "obligations:re-authz")
        restrictParentalControl = chosen(names.restrictObligation, "urn:tve:xacml:2.0:obligations:restrict-pc")
        upgrade = chosen(names.upgradeObligation, "urn:tve:xacml:2.0:obligations:upgrade")
        maxMPAA = chosen(names.maxMpaa, content + "ratings:maxMPAA")
        maxVChip = chosen(names.maxVchip, content + "ratings:maxVCHIP")
        message = chosen(names.message, "urn:cablelabs:ocla:1.0:attribute:enviroment:buy-flow:message")
        reasonCode = chosen(names.reasonCode, olca + "attribute:content:subscription:tv-network:reason-code")
    }

    private static let subject = "urn:oasis:names:tc:xacml:1.0:subject:"
    static let address = subject + "authn-locality:ip-address"
    static let view = "VIEW"
    static let base64 = "http://www.w3.org/2001/XMLSchema#base64Binary"

    /// The id of a rating: a scheme is appended unless the id ends in one already (mvpd §4.1).
    func rating(scheme: String) -> String {
        let schemes = ["vchip", "v-chip", "mpaa", scheme.lowercased()]
        let hasScheme = schemes.contains { !$0.isEmpty && rating.lowercased().hasSuffix(":" + $0) }
        return scheme.isEmpty || hasScheme ? rating : "\(rating):\(scheme)"
    }

    func ratingScheme(_ assignment: String) -> MvpdDecision.Rating.Scheme? {
        switch assignment {
        case maxMPAA: .mpaa
        case maxVChip: .vChip
        default: nil
        }
    }

    func understands(assignment: String) -> Bool { [maxMPAA, maxVChip, message, reasonCode].contains(assignment) }
}
