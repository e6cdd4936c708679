internal import Contracts
internal import MediaRss

/// One question to a policy decision point: may this subscriber watch that (mvpd §4.1).
struct DecisionQuery: Hashable, Sendable {
    /// The user id that the MVPD itself gave at sign-in.
    var subject: String
    var resource: RequestedResource
    /// The device's address as the gateway determined it; empty: not sent.
    var clientAddress: String
    var userAgent: String
    var device: String

    init(_ session: SessionAtHand, _ resource: RequestedResource) {
        subject = session.upstreamUserID
        self.resource = resource
        clientAddress = session.call.clientAddress
        userAgent = session.call.userAgent
        device = session.call.deviceID
    }

    /// Id under which the answer is found.
    func resourceID(_ endpoint: AuthorizationEndpoint) -> String {
        if endpoint.channelOnly { return resource.channel }
        return resource.mediaRss?.item?.guid ?? resource.channel
    }

    /// Attributes of the resource (mvpd §4.1): a plain string is nothing but its id; so is everything for an MVPD that knows only channels.
    func resourceAttributes(_ endpoint: AuthorizationEndpoint) -> [XacmlJsonRequest.Attribute] {
        var attributes = [XacmlJsonRequest.Attribute(XacmlNames.resourceID, resourceID(endpoint), includeInResult: true)]
        guard let document = resource.mediaRss, !endpoint.channelOnly else { return attributes }
        attributes.append(.init(XacmlNames.tvNetwork, resource.channel))
        attributes.append(.init(XacmlNames.namespace, resource.channel))
        if let title = document.item?.title { attributes.append(.init(XacmlNames.title, title)) }
        if let rating = document.rating {
            let identifier = rating.scheme.isEmpty ? XacmlNames.rating : "\(XacmlNames.rating):\(rating.scheme)"
            attributes.append(.init(identifier, rating.value))
        }
        return attributes
    }

    /// The device's address always goes out; device id and user agent only where their attribute ids are configured.
    func environmentAttributes(_ endpoint: AuthorizationEndpoint) -> [XacmlJsonRequest.Attribute] {
        var attributes: [XacmlJsonRequest.Attribute] = []
        let addressID = endpoint.ipAttributeID.isEmpty ? XacmlNames.address : endpoint.ipAttributeID
        for (identifier, value) in [
            (addressID, clientAddress), (endpoint.userAgentAttributeID, userAgent), (endpoint.deviceAttributeID, device),
        ] where !identifier.isEmpty && !value.isEmpty {
            attributes.append(.init(identifier, value))
        }
        return attributes
    }
}
