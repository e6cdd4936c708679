internal import Contracts
internal import FoundationEssentials
internal import MediaRss
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
    /// What an access token of the person is found by; empty: the person did not sign in by OAuth.
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
