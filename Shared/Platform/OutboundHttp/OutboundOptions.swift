/// The options that all calls of a program to servers of other organisations have in common.
public struct OutboundOptions: Hashable, Sendable {
    /// Who calls (RFC 9110 §10.1.5), unless a request says so itself. Firewalls in front of providers refuse requests without it.
    public var userAgent: String
    /// How calls leave a closed network.
    public var proxies: EgressProxies

    public init(userAgent: String = "Boxoffice", proxies: EgressProxies = EgressProxies()) {
        self.userAgent = userAgent
        self.proxies = proxies
    }
}
