internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import FoundationEssentials
internal import MediaRss
internal import OutboundHttp
internal import SamlProfile

/// One question to a policy decision point: may this subscriber watch that (mvpd §4.1).
struct DecisionQuery: Hashable, Sendable {
    typealias Attribute = DecisionRequest.Attribute

    /// The user id that the MVPD itself gave at sign-in.
    var subject: String
    var resource: RequestedResource
    var requestor: String
    /// The device's address as the gateway determined it; empty: not sent.
    var clientAddress: String
    var userAgent: String
    var device: String
    /// The key of the person's access token; empty: the person did not sign in by OAuth.
    var upstreamSession: String

    init(_ session: SessionAtHand, _ resource: RequestedResource) {
        subject = session.upstreamUserID
        self.resource = resource
        requestor = session.requestor
        clientAddress = session.call.clientAddress
        userAgent = session.call.userAgent
        device = session.call.deviceID
        upstreamSession = session.upstreamSessionID
    }

    /// Id under which the answer is found.
    func resourceID(_ point: DecisionPoint) -> String {
        if point.record.resourceForm == .mediaRss, point.record.protocol != .restMrss { return mediaRss(point) }
        if point.record.channelOnly { return resource.channel }
        return resource.mediaRss?.item?.guid ?? resource.channel
    }

    /// The resource as Media RSS: as it was sent; a plain text, and everything for an MVPD that knows only channels, as a channel's title.
    func mediaRss(_ point: DecisionPoint) -> String {
        resource.mediaRss == nil || point.record.channelOnly ? MediaRssDocument.text(channel: resource.channel) : resource.text
    }

    /// Attributes of the resource (mvpd §4.1): a plain string is nothing but its id; so is everything for an MVPD that knows only channels.
    func resourceAttributes(_ point: DecisionPoint) -> [Attribute] {
        let names = point.vocabulary
        var attributes = [Attribute(names.resourceID, resourceID(point), dataType: Self.dataType(point.record.resourceDataType))]
        guard let document = resource.mediaRss, !point.record.channelOnly, point.record.resourceForm != .mediaRss else { return attributes }
        attributes.append(.init(names.tvNetwork, resource.channel))
        attributes.append(.init(names.namespace, resource.channel))
        if let title = document.item?.title { attributes.append(.init(names.title, title)) }
        if let rating = document.rating { attributes.append(.init(names.rating(scheme: rating.scheme), rating.value)) }
        return attributes
    }

    /// The device's address goes out unless the record says otherwise; device id and user agent only where their attribute ids are configured.
    private func environmentAttributes(_ point: DecisionPoint) -> [Attribute] {
        let record = point.record
        let addressID = record.omitIP ? "" : record.ipAttributeID.isEmpty ? XacmlVocabulary.address : record.ipAttributeID
        return [
            (addressID, clientAddress, record.ipDataType), (record.userAgentAttributeID, userAgent, record.userAgentDataType),
            (record.deviceAttributeID, device, ""),
        ].compactMap { identifier, value, type in
            identifier.isEmpty || value.isEmpty ? nil : Attribute(identifier, value, dataType: Self.dataType(type))
        }
    }

    private func subjectAttributes(_ point: DecisionPoint) -> [Attribute] {
        if point.record.omitSubject, point.record.queryAuthentication == .bearer { return [] }
        guard point.record.subjectAsToken else { return [Attribute(point.vocabulary.subjectID, subject)] }
        return [Attribute(point.vocabulary.subjectID, Data(subject.utf8).base64EncodedString(), dataType: XacmlVocabulary.base64)]
    }

    private static func dataType(_ own: String) -> String { own.isEmpty ? Attribute.string : own }

    /// - Parameter others: Further questions about the same subject and device, of other resource ids.
    func request(_ point: DecisionPoint, and others: some Sequence<DecisionQuery>) -> DecisionRequest {
        DecisionRequest(
            subject: subjectAttributes(point), resources: ([self] + others).map { $0.resourceAttributes(point) },
            action: [Attribute(point.vocabulary.actionID, XacmlVocabulary.view)], environment: environmentAttributes(point))
    }
}

/// The attribute and obligation ids of one decision point: its own, else those of mvpd §4.1 and §4.2. The names `ocla` and `enviroment` are spelled
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

/// As whom this service asks decision points in the SOAP form.
public struct DecisionIdentity: Sendable {
    /// The base `spEntityId`.
    let entityID: String
    /// nil: questions that need a signature cannot be asked.
    let signingKey: SamlSigningKey?

    public init(entityID: String = "") {
        self.entityID = entityID
        signingKey = nil
    }

    /// - Parameters:
    ///   - pem: The RSA key that signs questions.
    ///   - certificate: Its certificate, DER.
    /// - Throws: The problem with them.
    public init(entityID: String, key pem: String, certificate: [UInt8]) throws {
        self.entityID = entityID
        signingKey = try SamlSigningKey(pem: pem, certificate: certificate)
    }

    /// - Parameters:
    ///   - settings: The settings that name the entity and the files.
    ///   - path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyError` naming the setting and what is wrong with it.
    public init(_ settings: AuthorizationSettings, path: (String) -> String) throws(MediaTokenKeyError) {
        guard let key = settings.signingKey, let certificate = settings.signingCertificate else {
            self.init(entityID: settings.spEntityID)
            return
        }
        do {
            let pem = try RSAPrivateKey(pemFile: path(key)).pem()
            try self.init(entityID: settings.spEntityID, key: pem, certificate: try Certificate(pemFile: path(certificate)).der)
        } catch {
            throw MediaTokenKeyError(key: "signingKey", problem: "and signingCertificate are of no use: \(error)")
        }
    }
}

/// Access tokens with which an OAuth provider's decision point is asked; authentication gets them from the MVPD (mvpd §3).
struct ProviderTokens: Sendable {
    let sessions: any Sessions

    /// - Throws: `authorization_denied_by_session_invalidated` when the person did not sign in by OAuth, or has to sign in again; faults of the
    ///   way to the MVPD.
    func bearer(for query: DecisionQuery, context: CallContext) async throws(Fault) -> OutboundRequest.Header {
        guard !query.upstreamSession.isEmpty else {
            throw Fault(
                .authorizationDeniedBySessionInvalidated, "User not authorized", cause: DecisionPointError("the sign-in was not by OAuth"))
        }
        do {
            let request = UpstreamTokenRequest(upstreamSessionID: query.upstreamSession)
            let token = try await sessions.getUpstreamToken(request, context: context.child())
            return ("authorization", "Bearer \(token.accessToken)")
        } catch {
            throw .unexpected(error)
        }
    }
}
