internal import Contracts
internal import StrictJson

extension CatalogueReading {
    private static let protocols: KeyValuePairs<String, AuthorizationProtocol> = [
        "none": .none, "xacmlJson": .xacmlJson, "xacmlXml": .xacmlXml, "xacmlSoap": .xacmlSoap, "restMrss": .restMrss,
    ]
    private static let strategies: KeyValuePairs<String, PreflightStrategy> = [
        "multiChannel": .multiChannel, "lineup": .lineup, "forkJoin": .forkJoin,
    ]

    func authorization(_ object: JsonObject, of mvpd: Mvpd) -> AuthorizationEndpoint? {
        if case .tempPass = mvpd.signIn {
            object.optional("authorization")?.problem("must not be there: a TempPass decides without an MVPD")
            return nil
        }
        return object.required("authorization")?.object(endpoint)
    }

    private func endpoint(_ object: JsonObject) -> AuthorizationEndpoint {
        var endpoint = AuthorizationEndpoint()
        let name = object.requiredChoice("protocol", Self.protocols)
        endpoint.protocol = name ?? .none
        let isAsked = name != nil && name != AuthorizationProtocol.none
        endpoint.url = object.url("url", required: isAsked)
        if name == AuthorizationProtocol.none, !endpoint.url.isEmpty { object.optional("url")?.problem("has no meaning with the protocol 'none'") }
        endpoint.trustAnchors = object.optional("trustAnchors")?.array(certificates.certificate) ?? []
        endpoint.ipAttributeID = object.uri("ipAttributeId")
        endpoint.userAgentAttributeID = object.uri("userAgentAttributeId")
        endpoint.deviceAttributeID = object.uri("deviceAttributeId")
        endpoint.channelOnly = object.flag("channelOnly")
        endpoint.preflightStrategy = object.choice("preflightStrategy", Self.strategies, else: .multiChannel)
        endpoint.preflightMaxResources = object.number("preflightMaxResources", Self.preflightLimits)
        endpoint.connectTimeoutMilliseconds = object.number("connectTimeoutMs", 10...60_000)
        endpoint.responseTimeoutMilliseconds = object.number("responseTimeoutMs", 10...60_000)
        endpoint.totalTimeoutMilliseconds = object.number("totalTimeoutMs", 10...60_000)
        return endpoint
    }
}
